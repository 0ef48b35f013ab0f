"""Which landings of a full extract come too late to be merged, because a newer one is."""

from collections.abc import Iterable

from lakekit import layout
from lakekit.batch import runs_in
from lakekit.contracts import Contract
from lakekit.errors import LandingCorruptError
from lakekit.landing import Manifest, load_manifest
from lakekit.ports import ObjectStore
from lakekit.runs.documents import Superseded
from lakekit.runs.table_metadata import Metadata, main_ancestry


def superseded_landings(
    store: ObjectStore, contract: Contract, manifests: Iterable[Manifest], metadata: Metadata
) -> tuple[Superseded, ...]:
    """Return what is not to be merged of an endpoint's landings.

    Without `sequence_by` a record is as old as its extract, and a full extract that is older than
    a merged one says nothing of now: its merge would be refused in every run that brings it.
    Other extracts are never left out, since each of their records stands nowhere else.

    Args:
        store: The landing bucket.
        contract: The endpoint's contract.
        manifests: The landings of this run.
        metadata: The table's metadata document; empty if there is no table.
    """
    history, landings = contract.history, list(manifests)
    if not history.ordered_by_extraction:
        return ()
    full = [each for each in landings if each.extract == "full"]
    if not full:
        return ()
    seen = {run for each in main_ancestry(metadata) for run in runs_in(each.get("summary", {}))}
    merged = [each for each in full if each.run_id in seen]
    newest = max(
        [*merged, *_newest_complete(store, full)], key=lambda each: each.extraction_time,
        default=None,
    )  # fmt: skip
    if newest is None:
        return ()
    return tuple(
        Superseded(manifest=_key(each), by=_key(newest))
        for each in full
        if each.extraction_time < newest.extraction_time and each not in merged
    )


def _newest_complete(store: ObjectStore, full: list[Manifest]) -> list[Manifest]:
    """Return the newest complete full landing that is younger than the oldest at hand."""
    oldest = min(full, key=lambda each: each.extraction_time)
    folder = layout.endpoint_prefix(oldest.source, oldest.endpoint)
    # Names of landings are times, so that their order is that of extraction.
    markers = (info.key for info in store.list(folder) if info.key.endswith("/.complete"))
    prefixes = [marker.removesuffix(".complete") for marker in markers]
    for prefix in sorted((p for p in prefixes if p > oldest.prefix), reverse=True):
        try:
            manifest = load_manifest(store, layout.manifest_key(prefix))
        except LandingCorruptError:
            continue
        if manifest.extract == "full":
            return [manifest]
    return []


def _key(manifest: Manifest) -> str:
    return layout.manifest_key(manifest.prefix)
