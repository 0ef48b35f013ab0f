"""StartPending: after maintenance, start a run if landings are pending that nobody holds."""

from lakekit.ports import Flow
from lakekit.runs.next_run import hand_over
from lakekit.steps.functions import StartPending, StartPendingResult


def start_pending(step: StartPending, flow: Flow) -> StartPendingResult:
    """Start a run of the source; again, for the same execution, it starts none."""
    return StartPendingResult(started=hand_over(flow, step.run_id, step.source, ()))
