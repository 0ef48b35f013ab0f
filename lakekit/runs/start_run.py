"""StartRun: pin what holds for the run. It takes no table: an extraction disturbs no merge."""

from collections.abc import Iterable

from lakekit import layout
from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.contract.families import parents_first
from lakekit.errors import InvalidStepInputError, UnknownSourceError
from lakekit.ports import ObjectStore
from lakekit.runs.documents import Run, read_run, write_once
from lakekit.steps.functions import StartRun, StartRunResult


def start_run(
    step: StartRun, store: ObjectStore, source: Source, contracts: Iterable[Contract]
) -> StartRunResult:
    """Begin a run; again, with the same run id, it returns the same result.

    Raises:
        UnknownSourceError: No contract names the source.
        InvalidContractError: A contract has no parent, or is its own.
        InvalidStepInputError: The run id was used before by another execution.
    """
    pinned = parents_first(tuple(contracts))
    if not pinned:
        raise UnknownSourceError(f"no contract has 'source: {step.source}'")
    request = step.request
    extraction_time = request.extraction_time or step.started_at
    run = Run(
        run_id=step.run_id,
        started_at=step.started_at,
        # To the second, as the layout has it: one landing has one time.
        extraction_time=extraction_time.replace(microsecond=0),
        source=source,
        contracts=pinned,
        origin=request.origin,
    )
    # First, so that a run with a document is in the index until it has ended. With the time of what
    # it will land: where the order counts, others wait for that.
    landing = run.extraction_time.isoformat().encode() if request.extract else b""
    store.put(layout.open_run_key(step.source, step.run_id), landing)
    if not write_once(store, layout.run_key(step.run_id), run):
        run = read_run(store, step.run_id)
    if run.started_at != step.started_at:
        # Step Functions frees a name after 90 days; the snapshots of the tables keep it.
        raise InvalidStepInputError(
            f"run {run.run_id} began at {run.started_at.isoformat()}; start with a new name"
        )
    if request.extract:
        store.put(layout.started_key(step.source), step.run_id.encode())
    # Those that wait for their parents come behind them: only some are extracted at once.
    endpoints = tuple(each.contract for each in run.contracts) if request.extract else ()
    return StartRunResult(endpoints=endpoints)
