"""How long things may take: derived from `jobs.timeout_minutes`, so that each fits the next.

In seconds. What contradicts itself here, or in the state machines, fails a test.
"""

from dataclasses import dataclass

# Glue's own clock starts when it has workers, and a state learns late that a job has ended.
GLUE_MARGIN = 600
# All pauses between the attempts to start a job that Glue does not start at once.
JOB_START_PAUSES = 900
# The functions of a run while it holds tables, each repeated as often as its state allows.
FUNCTIONS_UNDER_LEASE = 5 * 3600
# All that a run extracts: a large source behind a slow API may take days.
EXTRACTION = 7 * 24 * 3600
# The functions of `maintain_tables`.
AFTER_MAINTENANCE = 3600
# What Glue loses is started once more.
STARTS = 2


@dataclass(frozen=True)
class TimeOuts:
    """The time-outs of one environment.

    Attributes:
        job: Of a Glue job.
        job_state: Of a state that waits for a job.
        lease: After so long a table is free, even if nobody gave it back: longer than a run
            needs from its claim to its end.
        executions: Of whole executions, by state machine. Nothing catches them, so they are
            longer than all that a machine may do.
    """

    job: int
    job_state: int
    lease: int
    executions: dict[str, int]


def derive_timeouts(job_minutes: int) -> TimeOuts:
    """Return the time-outs that follow from that of a job.

    Example:
        >>> derive_timeouts(60).job_state
        4200
    """
    job_state = job_minutes * 60 + GLUE_MARGIN
    with_pauses = STARTS * (job_state + JOB_START_PAUSES)
    # A run has two jobs: one creates tables, one merges.
    lease = 2 * with_pauses + FUNCTIONS_UNDER_LEASE
    return TimeOuts(
        job=job_minutes * 60,
        job_state=job_state,
        lease=lease,
        executions={
            "load_source": EXTRACTION + lease,
            "maintain_tables": with_pauses + AFTER_MAINTENANCE,
        },
    )
