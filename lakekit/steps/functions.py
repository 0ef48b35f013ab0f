"""Input and result model of every step that is a function: what travels between states.

References, never records. Those of the jobs are in `job_steps`.
"""

from typing import Annotated

from pydantic import AwareDatetime, Field

from lakekit.models import Name
from lakekit.steps.events import Key, Origin, RunId, StepModel


class LoadRequest(StepModel):
    """What `load_source` was started with.

    extraction_time: instead of the start time, for data that is of another time.
    manifests: keys of landings that bring their records; nothing is extracted then.
    """

    source: Name
    extraction_time: AwareDatetime | None = None
    manifests: tuple[Key, ...] | None = None
    origin: Origin = "person"
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
    """Keep an error with its run; with `endpoint`, only that endpoint failed."""

    run_id: RunId
    source: Name
    failure: Failure
    endpoint: Name | None = None


class RecordFailureResult(StepModel):
    """Where the error is kept."""

    key: Key


class RouteFile(StepModel):
    """A file that arrived in the inbox; `etag` and `version` distinguish its contents."""

    key: Key
    etag: str
    version: str | None = None
    arrived_at: AwareDatetime


class RouteFileResult(StepModel):
    """The landing and the run of a file; `started` is false if the run was there already."""

    run_id: RunId
    manifest: Key
    started: bool
