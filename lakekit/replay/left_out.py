"""Which completed landings no run merged, and why: CompleteRun marks those too."""

from collections.abc import Collection, Iterable

from lakekit import layout
from lakekit.errors import LandingCorruptError
from lakekit.landing.writer import load_manifest
from lakekit.ports import ObjectStore
from lakekit.runs.documents import SupersededLandings, read_document, read_run
from lakekit.runs.superseded import moves_something

STEP = "plan_tables"


def unexplained(
    store: ObjectStore, table: str, keys: Collection[str], prefixes: Iterable[str]
) -> list[str]:
    """Return those of some completed landings that PlanTables has not left out.

    It leaves out what a newer extract superseded, which it records, and what changes nothing.

    Args:
        store: The landing bucket.
        table: Name of the table.
        keys: What there is below `runs/`.
        prefixes: Folders of completed landings that nothing says to be merged.
    """
    prefixes = sorted(prefixes)
    if not prefixes:
        return []
    records = [key for key in keys if layout.result_key(layout.run_of(key), STEP, table) == key]
    superseded = {
        layout.prefix_of(each.manifest)
        for key in records
        for each in read_document(store, key, SupersededLandings).landings
    }
    return [each for each in prefixes if each not in superseded and not _moves_nothing(store, each)]


def _moves_nothing(store: ObjectStore, prefix: str) -> bool:
    """Say whether a landing moved nothing by the contract of the run that completed it."""
    try:
        manifest = load_manifest(store, layout.manifest_key(prefix))
        if manifest.rows:
            return False
        run = read_run(store, store.get(layout.complete_key(prefix)).decode())
    except LandingCorruptError:
        return False
    return not moves_something(manifest, run.contract(manifest.endpoint))
