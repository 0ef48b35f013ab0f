"""What the Lambda functions get: memory by their work."""

from typing import Annotated, Literal

from pydantic import Field

from lakekit.models import Model

Step = Literal[
    "start_run", "extract_pages", "claim_landings", "validate_landing", "plan_tables",
    "complete_run", "record_failure", "start_pending", "route_file", "sweep", "pause_schedules",
    "share_table",
]  # fmt: skip
Megabytes = Annotated[int, Field(ge=128, le=10_240)]
# 1,769 MB are one whole core: a validation has nothing to do but compute. Those of 1,024 MB read
# metadata of Iceberg, hold a page of a source, or convert a file.
MEMORY_MB: dict[Step, int] = {
    "start_run": 512,
    "extract_pages": 1024,
    "claim_landings": 512,
    "validate_landing": 1769,
    "plan_tables": 1024,
    "complete_run": 1024,
    "record_failure": 512,
    "start_pending": 512,
    "route_file": 1024,
    "sweep": 1024,
    "pause_schedules": 256,
    "share_table": 256,
}


class Functions(Model):
    """The Lambda functions.

    memory_mb: of some of them, in place of what they have by their work. reserve_concurrency:
    whether each has its share of the account's concurrency for itself, and never more.
    """

    memory_mb: dict[Step, Megabytes] = {}
    reserve_concurrency: bool = False

    def memory_of(self, step: Step) -> int:
        """Return the memory of one function, in MB.

        Example:
            >>> Functions(memory_mb={"sweep": 2048}).memory_of("sweep")
            2048
        """
        return self.memory_mb.get(step, MEMORY_MB[step])
