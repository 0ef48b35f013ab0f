"""Which landings come too late, because a younger one of their endpoint is merged."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.errors import LandingCorruptError
from lakekit.landing.writer import Manifest, load_manifest
from lakekit.ports import ObjectStore
from lakekit.runs.documents import Superseded
from lakekit.runs.table_metadata import Metadata, main_ancestry
from lakekit.table_properties import runs_in


def younger_landings(
    store: ObjectStore, contract: Contract, landings: Sequence[Manifest]
) -> Iterator[Manifest]:
    """Yield the complete landings after the oldest at hand that are sound, newest first.

    None if the contract has a sequence, or appends: then no landing comes too late.
    """
    if not contract.history.ordered_by_extraction:
        return
    oldest = min(landings, key=lambda each: each.extraction_time)
    folder = layout.endpoint_prefix(oldest.source, oldest.endpoint)
    # Names of landings are times, so that their order is that of extraction.
    keys = {info.key for info in store.list(folder)}
    prefixes = {key.removesuffix(".complete") for key in keys if key.endswith("/.complete")}
    # One that is rejected was taken back.
    sound = {each for each in prefixes if layout.rejected_key(each) not in keys}
    for prefix in sorted((each for each in sound if each > oldest.prefix), reverse=True):
        with suppress(LandingCorruptError):
            yield load_manifest(store, layout.manifest_key(prefix))


def superseded_landings(
    contract: Contract,
    manifests: Iterable[Manifest],
    metadata: Metadata,
    younger: Iterable[Manifest],
) -> tuple[Superseded, ...]:
    """Return what is not to be merged of an endpoint's landings.

    Without `sequence_by` a record is as old as its extract, and a full extract that is older than
    a merged one says nothing of now: its merge would be refused in every run that brings it.
    Other extracts are never left out, since each of their records stands nowhere else.

    Args:
        contract: The endpoint's contract.
        manifests: The landings of this run.
        metadata: The table's metadata document; empty if there is no table.
        younger: See `younger_landings`.
    """
    history, landings = contract.history, list(manifests)
    if not history.ordered_by_extraction:
        return ()
    full = [each for each in landings if each.extract == "full"]
    if not full:
        return ()
    seen = {run for each in main_ancestry(metadata) for run in runs_in(each.get("summary", {}))}
    merged = [each for each in full if each.run_id in seen]
    latest = next((each for each in younger if each.extract == "full"), None)
    newest = max(
        [*merged, *([latest] if latest else [])],
        key=lambda each: each.extraction_time,
        default=None,
    )
    if newest is None:
        return ()
    return tuple(
        Superseded(manifest=_key(each), by=_key(newest))
        for each in full
        if each.extraction_time < newest.extraction_time and each not in merged
    )


def _key(manifest: Manifest) -> str:
    return layout.manifest_key(manifest.prefix)
