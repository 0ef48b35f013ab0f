"""One run that tries a release: it is started, waited for, and must have loaded something."""

from collections.abc import Callable
from datetime import datetime

from lakekit.errors import InvalidStepInputError
from lakekit.models import Model
from lakekit.operate.runs import RecentRun, recent_run
from lakekit.ports import ExecutionLog, Flow


class Smoke(Model):
    """The run, and what is wrong with it; without a fault the release works."""

    run: RecentRun
    fault: str | None


def smoke_run(
    flow: Flow, log: ExecutionLog, source: str, *, until: datetime, pause: Callable[[], None]
) -> Smoke:
    """Load a source and say whether that worked.

    Args:
        flow: The deployment.
        log: Its executions.
        source: The source that is loaded.
        until: When to stop waiting. The run goes on.
        pause: Waits a little.

    Raises:
        InvalidStepInputError: Another run of this name was started in the same second.
    """
    name = f"smoke-{flow.clock():%Y%m%dT%H%M%S}"
    if not flow.executions.start(name, {"source": source, "origin": "person"}):
        raise InvalidStepInputError(f"a run {name} is there already; try again")
    while flow.executions.is_running(name) and flow.clock() < until:
        pause()
    run = recent_run(flow.store, log, name, flow.clock())
    return Smoke(run=run, fault=_fault(run))


def _fault(run: RecentRun) -> str | None:
    if run.outcome == "running":
        return "it still runs; look at it later with lakekit runs, or give it more --minutes"
    if run.outcome == "deferred":
        return "another run holds the tables, so that this one loaded nothing; try again"
    if run.outcome != "done":
        return f"it has {run.outcome}"
    if not run.tables:
        return "it has loaded no table: does a contract name the source?"
    return None
