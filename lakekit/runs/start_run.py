"""StartRun: pin what holds for the run, take its tables, claim what earlier runs left pending."""

from collections.abc import Iterable

from lakekit import layout
from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.errors import InvalidStepInputError, TableBusyError, UnknownSourceError
from lakekit.landing.writer import pending_keys
from lakekit.ports import Clock, ObjectStore, TableLeases
from lakekit.runs.documents import Run, read_run, write_once
from lakekit.steps.functions import StartRun, StartRunResult


def start_run(
    step: StartRun,
    store: ObjectStore,
    leases: TableLeases,
    source: Source,
    contracts: Iterable[Contract],
    *,
    clock: Clock,
) -> StartRunResult:
    """Begin a run; again, with the same run id, it returns the same result.

    Raises:
        UnknownSourceError: No contract names the source.
        TableBusyError: Another run that is still at work holds one of the tables.
        InvalidStepInputError: The run id was used before by another execution, the run had let
            its tables go before, or the request contradicts itself.
    """
    request = step.request
    if request.manifests is None and "manifests" in request.model_fields_set:
        # The state machine would skip the extraction, and a run that did nothing would look green.
        raise InvalidStepInputError("manifests: null; leave it out to extract, or name landings")
    pinned = tuple(contracts)
    if not pinned:
        raise UnknownSourceError(f"no contract has 'source: {step.source}'")
    epochs = _take(leases, sorted(contract.contract for contract in pinned), step.run_id)
    # Claimed under the leases, so that no two runs claim the same landing.
    given = [key for key in request.manifests or () if not _is_done(store, key)]
    claimed = [*pending_keys(store, source.source)]
    claimed += [key for key in given if key not in claimed]
    extraction_time = request.extraction_time or step.started_at
    run = Run(
        run_id=step.run_id,
        started_at=step.started_at,
        # To the second, as the layout has it: one landing has one time.
        extraction_time=extraction_time.replace(microsecond=0),
        source=source,
        contracts=pinned,
        claimed=tuple(claimed),
        extracts=request.manifests is None,
        epochs=epochs,
        # Only now: what others committed before is older.
        leased_at=clock(),
    )
    if not write_once(store, layout.run_key(step.run_id), run):
        run = read_run(store, step.run_id)
    if run.started_at != step.started_at:
        # Step Functions frees a name after 90 days; the snapshots of the tables keep it.
        raise InvalidStepInputError(
            f"run {run.run_id} began at {run.started_at.isoformat()}; start with a new name"
        )
    if any(run.epochs.get(table, epoch) != epoch for table, epoch in epochs.items()):
        # Others may have merged since, and the document would order it before them.
        raise InvalidStepInputError(
            f"run {run.run_id} has let its tables go since it began; start with a new name, and "
            "never redrive an execution"
        )
    return StartRunResult(
        run_id=run.run_id,
        started_at=run.started_at,
        endpoints=tuple(c.contract for c in run.contracts) if run.extracts else (),
        manifests=run.claimed,
    )


def _take(leases: TableLeases, tables: list[str], owner: str) -> dict[str, int]:
    """Take all tables or none: two runs that hold half each would wait for one another.

    Returns:
        The epoch of each table's lease.
    """
    epochs: dict[str, int] = {}
    for table in tables:
        try:
            epochs[table] = leases.acquire(table, owner).epoch
        except TableBusyError:
            for taken in epochs:
                leases.release(taken, owner)
            raise
    return epochs


def _is_done(store: ObjectStore, manifest: str) -> bool:
    """Say whether a landing is merged, or rejected by a person."""
    prefix = layout.prefix_of(manifest)
    markers = (layout.complete_key(prefix), layout.rejected_key(prefix))
    return any(store.head(marker) for marker in markers)
