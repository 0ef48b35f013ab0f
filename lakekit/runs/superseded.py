"""Which landings come too late, because a younger one of their endpoint is merged."""

from collections.abc import Iterable
from datetime import UTC, datetime

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.landing.writer import Manifest
from lakekit.ports import ObjectStore
from lakekit.runs.documents import LandingVerdict, Newest, Superseded, read_optional
from lakekit.runs.table_metadata import Metadata, main_ancestry
from lakekit.table_properties import runs_in


def newest_landings(store: ObjectStore, contract: Contract) -> Newest:
    """Return the newest complete landings of a table, as CompleteRun has written them.

    None if the contract has a sequence, or appends: then no landing comes too late. One that a
    person has rejected since was taken back.
    """
    if not contract.history.ordered_by_extraction:
        return Newest()
    key = layout.newest_key(contract.source, contract.contract)
    found = read_optional(store, key, Newest) or Newest()
    return Newest(
        full=_unless_rejected(store, found.full), moving=_unless_rejected(store, found.moving)
    )


def _unless_rejected(store: ObjectStore, manifest: str | None) -> str | None:
    if manifest and store.head(layout.rejected_key(layout.prefix_of(manifest))):
        return None
    return manifest


def record_newest(store: ObjectStore, contract: Contract, completed: Iterable[Manifest]) -> None:
    """Write which landings are the newest, once these are complete. Only under the lease."""
    key = layout.newest_key(contract.source, contract.contract)
    found = read_optional(store, key, Newest) or Newest()
    after = found
    for each in completed:
        own = layout.manifest_key(each.prefix)
        if each.extract == "full":
            after = after.model_copy(update={"full": max(own, after.full or "")})
        if moves_something(each, contract):
            after = after.model_copy(update={"moving": max(own, after.moving or "")})
    if after != found:
        store.put(key, after.to_json())


def moves_something(manifest: Manifest, contract: Contract) -> bool:
    """Say whether a merge could do anything: an empty full extract may mean deletes."""
    closes = manifest.extract == "full" and contract.history.deletes != "ignore"
    return manifest.rows > 0 or closes


def keeps_order(contract: Contract) -> bool:
    """Say whether no landing of a table may be merged after a younger one.

    Each record is as old as its extract, and stands nowhere else.
    """
    return contract.history.ordered_by_extraction and contract.endpoint.extract != "full"


def landings_to_merge(contract: Contract, verdicts: Iterable[LandingVerdict]) -> list[str]:
    """Return the manifests of a table's landings that hold, oldest first.

    Where the order counts, those behind one that is refused wait with it for a person.
    """
    found = []
    for each in verdicts:
        if each.error and keeps_order(contract):
            break
        if each.good:
            found.append(each.manifest)
    return found


def extraction_time_of(manifest: str) -> datetime:
    """Return the extraction time that a landing's folder says.

    Example:
        >>> extraction_time_of("raw/s/e/20240806_010203/manifest.json")
        datetime.datetime(2024, 8, 6, 1, 2, 3, tzinfo=datetime.timezone.utc)
    """
    stamp = manifest.split("/")[-2]
    form = "%Y%m%d_%H%M%S_%f" if stamp.count("_") > 1 else "%Y%m%d_%H%M%S"
    return datetime.strptime(stamp, form).replace(tzinfo=UTC)


def superseded_landings(
    contract: Contract, manifests: Iterable[Manifest], metadata: Metadata, newest: str | None
) -> tuple[Superseded, ...]:
    """Return what is not to be merged of an endpoint's landings.

    Without `sequence_by` a record is as old as its extract, and a full extract that is older than
    a merged one says nothing of now: its merge would be refused in every run that brings it.
    Other extracts are never left out, since each of their records stands nowhere else.

    Args:
        contract: The endpoint's contract.
        manifests: The landings of this run.
        metadata: The table's metadata document; empty if there is no table.
        newest: The manifest of the newest full landing that is complete.
    """
    full = [each for each in manifests if each.extract == "full"]
    if not full or not contract.history.ordered_by_extraction:
        return ()
    seen = {run for each in main_ancestry(metadata) for run in runs_in(each.get("summary", {}))}
    merged = [each for each in full if each.run_id in seen]
    known = [*map(_key, merged), *([newest] if newest else [])]
    if not known:
        return ()
    by = max(known, key=extraction_time_of)
    until = extraction_time_of(by)
    late = [each for each in full if each.extraction_time < until and each not in merged]
    return tuple(Superseded(manifest=_key(each), by=by) for each in late)


def _key(manifest: Manifest) -> str:
    return layout.manifest_key(manifest.prefix)
