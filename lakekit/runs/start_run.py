"""StartRun: pin what holds for the run. It takes no table: an extraction disturbs no merge."""

from collections.abc import Iterable, Iterator, Sequence

from lakekit import layout
from lakekit.config.load import address_fault
from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.contract.families import parents_first, with_children
from lakekit.errors import InvalidContractError, InvalidStepInputError, UnknownSourceError
from lakekit.landing.watermark import Watermark, read_watermark
from lakekit.ports import ObjectStore
from lakekit.runs.documents import Run, read_run, write_once
from lakekit.steps.functions import LoadRequest, StartRun, StartRunResult


def start_run(
    step: StartRun, store: ObjectStore, source: Source, contracts: Iterable[Contract]
) -> StartRunResult:
    """Begin a run; again, with the same run id, it returns the same result.

    Raises:
        UnknownSourceError: No contract names the source.
        InvalidContractError: A contract has no parent, or is its own; or it has a path and the
            source no base_url, or the other way round.
        InvalidStepInputError: The run id was used before by another execution; or the table of a
            backfill cannot be asked for a window.
    """
    pinned = parents_first(tuple(contracts))
    if not pinned:
        raise UnknownSourceError(f"no contract has 'source: {step.source}'")
    if faults := [
        f"{each.contract}: {fault}" for each in pinned if (fault := address_fault(source, each))
    ]:
        raise InvalidContractError("\n".join(faults))
    request = step.request
    _refuse_wrong_window(step)
    _asked(pinned, request)
    extraction_time = request.extraction_time or step.started_at
    run = Run(
        run_id=step.run_id,
        started_at=step.started_at,
        # To the second, as the layout has it: one landing has one time.
        extraction_time=extraction_time.replace(microsecond=0),
        source=source,
        contracts=pinned,
        origin=request.origin,
        watermarks=tuple(_watermarks(store, pinned)) if request.extract else (),
        window=request.window,
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
    return StartRunResult(endpoints=_asked(run.contracts, request))


def _refuse_wrong_window(step: StartRun) -> None:
    request, window = step.request, step.request.window
    if window is None and request.endpoints:
        raise InvalidStepInputError("endpoints are those of a backfill; give window too")
    if window and not request.extract:
        raise InvalidStepInputError("window needs extract: without it nothing is asked for")
    if window and window[1] > step.started_at:
        raise InvalidStepInputError(f"window ends at {window[1].isoformat()}, in the future")


def _asked(contracts: Sequence[Contract], request: LoadRequest) -> tuple[str, ...]:
    """Return the endpoints that are extracted.

    Of a backfill they are those that it names or can ask, and their children: later runs look for
    parents behind the newest landing of a child, where these may not be.
    """
    if not request.extract:
        return ()
    if request.window is None:
        return tuple(each.contract for each in contracts if each.endpoint.path)
    faults = {each.contract: backfill_fault(each) for each in contracts}
    for name in request.endpoints:
        if name not in faults:
            raise UnknownSourceError(f"{request.source}: there is no endpoint '{name}'")
        if fault := faults[name]:
            raise InvalidStepInputError(f"{name}: {fault}")
    found = request.endpoints or tuple(name for name, fault in faults.items() if not fault)
    if not found:
        raise InvalidStepInputError(f"{request.source}: no endpoint has incremental.window")
    return with_children(found, contracts)


def backfill_fault(contract: Contract) -> str | None:
    """Return why an endpoint cannot be asked for a window of the past, or None if it can."""
    incremental = contract.endpoint.incremental
    if incremental is None or incremental.window is None:
        return "a backfill needs endpoint.incremental with a window"
    if contract.history.ordered_by_extraction:
        return "a backfill needs history.sequence_by: its records would count as the newest"
    return None


def _watermarks(store: ObjectStore, contracts: Iterable[Contract]) -> Iterator[Watermark]:
    """Yield the watermarks of incremental tables, so that all calls of the run ask the same."""
    for each in contracts:
        if each.endpoint.incremental:
            found = read_watermark(store, each.source, each.contract)
            if found:
                yield found
