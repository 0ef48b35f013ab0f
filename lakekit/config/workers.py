"""How many workers a job gets: from the bytes to merge, between the limits of the environment."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lakekit.models import Model

BYTES_PER_WORKER = 100_000_000
WorkerType = Literal["G.1X", "G.2X"]
# Two are the least that Glue allows: one of them is the driver.
Number = Annotated[int, Field(ge=2, le=299)]


class Workers(Model):
    """What a job run is started with; Glue scales down from `number`."""

    number: Number
    type: WorkerType
    execution_class: Literal["STANDARD", "FLEX"]

    @property
    def dpus(self) -> int:
        """How many DPUs they are."""
        return self.number * int(self.type[2])


class Jobs(Model):
    """What every Glue job gets."""

    min_workers: Number = 2
    max_workers: Number = 10
    worker_type: WorkerType = "G.1X"
    flex: bool = False
    timeout_minutes: Annotated[int, Field(ge=1, le=2880)] = 60
    max_concurrent_runs: Annotated[int, Field(ge=1, le=1000)] = 10

    @model_validator(mode="after")
    def _limits_fit(self) -> Self:
        if self.max_workers < self.min_workers:
            raise ValueError(
                f"max_workers is {self.max_workers}, and min_workers {self.min_workers}; "
                "the most cannot be less than the least"
            )
        return self

    def workers(self, merged_bytes: int) -> Workers:
        """Return the workers for so many bytes of records.

        Example:
            >>> [Jobs().workers(size * 1_000_000).number for size in (5, 450, 90_000)]
            [2, 5, 10]
        """
        wanted = -(-merged_bytes // BYTES_PER_WORKER)
        return Workers(
            number=min(max(wanted, self.min_workers), self.max_workers),
            type=self.worker_type,
            execution_class="FLEX" if self.flex else "STANDARD",
        )
