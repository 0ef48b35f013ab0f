"""Arguments and result model of every step that is a Glue job."""

from datetime import timedelta
from typing import Annotated, Self

from pydantic import AwareDatetime, Field, PositiveInt, StringConstraints, model_validator

from lakekit.batch import MergeResult
from lakekit.documents import Document
from lakekit.health import Maintained
from lakekit.models import Name
from lakekit.steps.events import RunId, StepModel


class CreateTables(StepModel):
    """Arguments of the job that creates and evolves tables."""

    run_id: RunId
    source: Name
    landing_bucket: str
    database: Name
    warehouse: str


class CreateTablesResult(Document):
    """What was done to one table."""

    table: Name
    created: bool = False
    changes: tuple[str, ...] = ()


class MergeScd2(CreateTables):
    """Arguments of the job that merges."""


class MergeScd2Result(Document):
    """What the batches of one table did, in their order, and whether it wants maintenance.

    seconds: how long it took, on its own among the tables of the job. dpu_seconds, cost_usd: its
    share of what the jobs of the run have used, which CompleteRun adds.
    """

    table: Name
    merges: tuple[MergeResult, ...]
    maintain: bool = False
    seconds: float = 0
    dpu_seconds: float = 0
    cost_usd: float = 0


class HoldsLease(CreateTables):
    """Arguments of a job that takes leases and reads contracts.

    lease_seconds, config_parameter: deployed with it; the parameter says where the contracts are.
    """

    lease_seconds: PositiveInt
    config_parameter: str = ""

    @property
    def lease_lifetime(self) -> timedelta:
        """After how long the lease of a table is free by itself."""
        return timedelta(seconds=self.lease_seconds)


class MaintainTables(HoldsLease):
    """Arguments of the job that maintains."""


class MaintainTablesResult(Document):
    """What was done to a table, its journal and quarantine; or who held it, so that nothing was."""

    table: Name
    busy: str | None = None
    maintained: tuple[Maintained, ...] = ()


class RebuildTable(HoldsLease):
    """Arguments of the job that derives a table again.

    since: `--from`; only versions that held at or after it are published. keys: `--keys`, the
    key of an object with natural keys, NDJSON; only their versions are.
    """

    BY_HAND = True

    table: Name
    since: AwareDatetime | None = Field(None, alias="from")
    keys: Annotated[str, StringConstraints(pattern=r"^runs/.+$", max_length=1024)] | None = None

    @model_validator(mode="after")
    def _one_scope(self) -> Self:
        if self.since and self.keys:
            raise ValueError("give from or keys, not both")
        return self


class RebuildTableResult(Document):
    """What a rebuild did: the runs that it replayed, in their order; rows that were not right.

    journal_missing, journal_wrong: rows of the change journal that were not right.
    """

    table: Name
    runs: tuple[str, ...]
    missing: int
    wrong: int
    journal_missing: int = 0
    journal_wrong: int = 0
    snapshot_id: int | None = None
    committed: bool = False
