"""Input and result model of every step that is a function: what travels between states.

References, never records, and no list that grows: lists are in the run's documents. Those of the
jobs are in `jobs`.
"""

import json
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, model_validator

from lakekit.config.workers import Workers
from lakekit.models import Name
from lakekit.steps.events import Key, Origin, RunId, StepModel, TimeWindow


class LoadRequest(StepModel):
    """What `load_source` was started with.

    extraction_time: instead of the start time, for data that is of another time.
    extract: false to load only what is pending. window: start and end of a backfill, which
    asks for this time alone. endpoints: of a backfill, if not all that have windows.

    A field that is unknown is the mistake of a person. Whoever else starts a run may be of another
    release.
    """

    source: Name
    extraction_time: AwareDatetime | None = None
    extract: bool = True
    origin: Origin = "person"
    window: TimeWindow | None = None
    endpoints: tuple[Name, ...] = ()
    started_by: str | None = Field(None, alias="AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID")

    @model_validator(mode="before")
    @classmethod
    def _ignore_fields_of_other_releases(cls, value: Any) -> Any:
        if not isinstance(value, dict) or value.get("origin", "person") == "person":
            return value
        known = {*cls.model_fields, *(field.alias for field in cls.model_fields.values())}
        return {name: each for name, each in value.items() if name in known}


class StartRun(StepModel):
    """Begin a run; its id is the execution's name."""

    run_id: RunId
    started_at: AwareDatetime
    source: Name
    request: LoadRequest


class StartRunResult(StepModel):
    """The endpoints to extract; none if the run only loads what is pending."""

    endpoints: tuple[Name, ...]


class OfRun(StepModel):
    """A step that finds all it needs in the run's documents."""

    run_id: RunId
    source: Name


class Continuation(StepModel):
    """Where and when an extraction goes on: the key of its progress, the pages it has so far.

    wait_seconds: before the next call, as the source wants it.
    waits: how many waits there were one after the other without a page.
    parent_waits: how many for the endpoint that gives the parents.
    """

    progress: Key
    pages: Annotated[int, Field(ge=0)]
    wait_seconds: Annotated[int, Field(ge=0)] = 0
    waits: Annotated[int, Field(ge=0)] = 0
    parent_waits: Annotated[int, Field(ge=0)] = 0


class ExtractPages(OfRun):
    """Land the pages of one endpoint, after those of `continuation`."""

    endpoint: Name
    continuation: Continuation | None = None


class ExtractPagesResult(StepModel):
    """One endpoint: landed under `manifest`, or to be continued."""

    endpoint: Name
    done: bool
    continuation: Continuation | None = None
    manifest: Key | None = None
    rows: int = 0
    pages: int = 0


class ClaimLandings(OfRun):
    """Take the tables that are free, and of each the oldest pending landings."""


class ClaimLandingsResult(StepModel):
    """The numbers of the shares in which the claimed landings are validated; none if there is none.

    deferred: how many tables others hold; those see to their landings.
    """

    shares: tuple[int, ...]
    deferred: int


class ValidateLanding(OfRun):
    """Check one share of the claimed landings."""

    share: Annotated[int, Field(ge=0)]


class ValidateLandingResult(StepModel):
    """How many landings of a share hold, and how many were refused."""

    good: int
    refused: int


class PlanTables(OfRun):
    """Decide what the tables need."""


class PlanTablesResult(StepModel):
    """Whether to create or evolve tables, and to merge, with how many workers.

    superseded: how many landings are left out, because newer ones describe the source.
    """

    create: bool
    merge: bool
    workers: Workers
    superseded: int = 0


class Failure(StepModel):
    """An error as Step Functions hands it to a Catch."""

    error: str = Field(alias="Error")
    cause: str = Field(default="", alias="Cause")

    @property
    def message(self) -> str:
        """What the job or function itself said: its cause is the JSON of the whole job run."""
        try:
            value = json.loads(self.cause)
        except ValueError:
            return self.cause
        if not isinstance(value, dict):
            return self.cause
        return str(value.get("ErrorMessage") or value.get("errorMessage") or self.cause)


class CompleteRun(OfRun):
    """Finish a run; with `failure`, one whose job failed: other tables may be merged."""

    failure: Failure | None = None


class CompleteRunResult(StepModel):
    """How a run ended, whether a table wants maintenance, and the error of what failed.

    deferred: all that was pending is held by others, which see to it.
    """

    outcome: Literal["done", "deferred", "failed"]
    maintain: bool = False
    error: str | None = None
    cause: str | None = None


class RecordFailure(OfRun):
    """Keep an error with its run; with `endpoint`, only that endpoint failed."""

    failure: Failure
    endpoint: Name | None = None


class RecordFailureResult(StepModel):
    """Where the error is kept."""

    key: Key


class StartPending(StepModel):
    """Start a run if landings of a source are pending that nobody holds; after maintenance."""

    run_id: RunId
    source: Name


class StartPendingResult(StepModel):
    """Whether a run was started."""

    started: bool


class Sweep(StepModel):
    """Look for what lost events and ended executions have left behind."""

    started_at: AwareDatetime


class SweepResult(StepModel):
    """How many runs were started, files routed and ended runs closed; what a person should see."""

    started: int
    routed: int
    closed: int
    found: tuple[str, ...] = ()
    more: int = 0


class PauseSchedules(StepModel):
    """Switch the schedules of sources off, or those on again that were switched off so."""

    action: Literal["pause", "resume"]


class PauseSchedulesResult(StepModel):
    """How many schedules were switched."""

    switched: int


class ShareTable(StepModel):
    """Show a table that was loaded to those who may read it."""

    database: str
    source: Name
    table: Name


class ShareTableResult(StepModel):
    """How many columns were opened and closed, and whether the view was made."""

    opened: int = 0
    closed: int = 0
    view_made: bool = False


class RouteFile(StepModel):
    """A file that arrived in the inbox; `etag` and `version` distinguish its contents."""

    key: Key
    etag: str
    version: str | None = None
    arrived_at: AwareDatetime


class RouteFileResult(StepModel):
    """The landing of a file; `started` says whether a run was started for it."""

    run_id: RunId
    manifest: Key
    started: bool
