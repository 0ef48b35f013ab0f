"""Input and result model of every step: what travels between states. References, never records."""

from typing import Annotated, Self

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from lakekit.batch import MergeResult
from lakekit.events import Key, RunId, StepModel, job_arguments
from lakekit.health import Maintained
from lakekit.models import Name

__all__ = ["StepModel", "job_arguments"]


class LoadRequest(StepModel):
    """What `load_source` was started with.

    extraction_time: instead of the start time, for data that is of another time.
    manifests: keys of landings that bring their records; nothing is extracted then.
    """

    source: Name
    extraction_time: AwareDatetime | None = None
    manifests: tuple[Key, ...] | None = None
    started_by: str | None = Field(None, alias="AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID")


class StartRun(StepModel):
    """Begin a run; its id is the execution's name."""

    run_id: RunId
    started_at: AwareDatetime
    source: Name
    request: LoadRequest


class StartRunResult(StepModel):
    """Endpoints to extract, and manifests that earlier runs left pending, oldest first."""

    run_id: RunId
    started_at: AwareDatetime
    endpoints: tuple[Name, ...]
    manifests: tuple[Key, ...]


class Continuation(StepModel):
    """Where an extraction goes on: the key of its progress, and the pages it has so far."""

    progress: Key
    pages: Annotated[int, Field(ge=1)]


class ExtractPages(StepModel):
    """Land the pages of one endpoint, after those of `continuation`."""

    run_id: RunId
    source: Name
    started_at: AwareDatetime
    endpoint: Name
    continuation: Continuation | None = None


class ExtractPagesResult(StepModel):
    """One endpoint: landed under `manifest`, to be continued, or failed with `error`."""

    endpoint: Name
    done: bool
    continuation: Continuation | None = None
    manifest: Key | None = None
    rows: int = 0
    pages: int = 0
    error: str | None = None


class ValidateLanding(StepModel):
    """Check what is pending and what was extracted."""

    run_id: RunId
    source: Name
    started_at: AwareDatetime
    pending: tuple[Key, ...]
    extracted: tuple[ExtractPagesResult, ...]


class ValidateLandingResult(StepModel):
    """The manifests that hold, oldest extraction first; those that do not, with their errors."""

    manifests: tuple[Key, ...]
    rejected: dict[Key, str] = Field(default_factory=dict)


class PlanTables(StepModel):
    """Decide what the tables need."""

    run_id: RunId
    source: Name
    started_at: AwareDatetime
    manifests: tuple[Key, ...]


class PlanTablesResult(StepModel):
    """Whether to create or evolve tables, and to merge; landings that newer ones superseded."""

    create: bool
    merge: bool
    superseded: dict[Key, Key] = Field(default_factory=dict)


class CreateTables(StepModel):
    """Arguments of the job that creates and evolves tables."""

    run_id: RunId
    source: Name
    landing_bucket: str
    database: Name
    warehouse: str


class CreateTablesResult(StepModel):
    """What was done to one table."""

    table: Name
    created: bool = False
    changes: tuple[str, ...] = ()


class MergeScd2(CreateTables):
    """Arguments of the job that merges."""


class MergeScd2Result(StepModel):
    """What the batches of one table did, in their order."""

    table: Name
    merges: tuple[MergeResult, ...]


class CompleteRun(PlanTables):
    """Finish a run whose tables are merged."""

    extracted: tuple[ExtractPagesResult, ...]


class CompleteRunResult(StepModel):
    """Whether a table wants maintenance, and whether part of the run is still to do."""

    maintain: bool
    partial: bool
    tables: tuple[Name, ...] = ()


class Failure(StepModel):
    """An error as Step Functions hands it to a Catch."""

    error: str = Field(alias="Error")
    cause: str = Field(default="", alias="Cause")


class RecordFailure(StepModel):
    """Keep an error beside its run; with `endpoint`, only that endpoint failed."""

    run_id: RunId
    source: Name
    failure: Failure
    endpoint: Name | None = None


class RecordFailureResult(StepModel):
    """Where the error is kept."""

    key: Key


class RouteFile(StepModel):
    """A file that arrived in the inbox; `etag` and `version` tell its contents apart."""

    key: Key
    etag: str
    version: str | None = None
    arrived_at: AwareDatetime


class RouteFileResult(StepModel):
    """The landing and the run of a file; `started` is false if the run was there already."""

    run_id: RunId
    manifest: Key
    started: bool


class MaintainTables(CreateTables):
    """Arguments of the job that maintains."""


class MaintainTablesResult(StepModel):
    """What was done to a table and its companions; or who held it, so that nothing was."""

    table: Name
    busy: str | None = None
    maintained: tuple[Maintained, ...] = ()


class RebuildTable(CreateTables):
    """Arguments of the job that derives a table again.

    since: `--from`; only versions that held at or after it are published. keys: `--keys`, the
    key of an object with natural keys, NDJSON; only their versions are.
    """

    table: Name
    since: AwareDatetime | None = Field(None, alias="from")
    keys: Annotated[str, StringConstraints(pattern=r"^runs/.+$", max_length=1024)] | None = None

    @model_validator(mode="after")
    def _one_scope(self) -> Self:
        if self.since and self.keys:
            raise ValueError("give from or keys, not both")
        return self


class RebuildTableResult(StepModel):
    """What a rebuild did: the runs that it replayed, in their order; rows that were not right.

    facts_missing, facts_wrong: rows of the companion that were not right.
    """

    table: Name
    runs: tuple[str, ...]
    missing: int
    wrong: int
    facts_missing: int = 0
    facts_wrong: int = 0
    snapshot_id: int | None = None
    committed: bool = False
