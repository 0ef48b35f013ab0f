"""StartPending: after maintenance, start a run if landings are pending that nobody holds."""

from lakekit.ports import Flow
from lakekit.runs.next_run import after_maintenance
from lakekit.steps.functions import StartPending, StartPendingResult


def start_pending(step: StartPending, flow: Flow) -> StartPendingResult:
    """Start a run of the source; again, for the same execution, it starts none."""
    return StartPendingResult(started=after_maintenance(flow, step.run_id, step.source))
