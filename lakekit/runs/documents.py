"""What a run keeps below `runs/{run_id}/`: its document, its plan, what its steps say they did."""

from typing import TypeVar

from pydantic import AwareDatetime, Field

from lakekit import layout
from lakekit.batch import Batch
from lakekit.config.source import Source
from lakekit.config.workers import Workers
from lakekit.contract.contract import Contract
from lakekit.documents import Document
from lakekit.errors import LandingCorruptError, UnknownSourceError
from lakekit.landing.census import Verdict
from lakekit.landing.watermark import Watermark
from lakekit.models import Model, Name
from lakekit.ports import ObjectNotFoundError, ObjectStore, PreconditionFailedError
from lakekit.steps.events import Origin, RunId, TimeWindow

Stored = TypeVar("Stored", bound=Document)
# With so many iterations a Map stays far below Step Functions' limit of 25,000 events.
MAX_SHARES = 40


class Run(Document):
    """The run document: what holds from StartRun to CompleteRun, whatever is edited meanwhile.

    watermarks: those of its incremental tables when it began. window: what a backfill asks for.
    """

    run_id: RunId
    started_at: AwareDatetime
    extraction_time: AwareDatetime
    source: Source
    contracts: tuple[Contract, ...]
    origin: Origin = "person"
    watermarks: tuple[Watermark, ...] = ()
    window: TimeWindow | None = None

    def contract(self, endpoint: str) -> Contract:
        """Return the contract of an endpoint, or raise UnknownSourceError."""
        for contract in self.contracts:
            if contract.contract == endpoint:
                return contract
        raise UnknownSourceError(f"{self.source.source}: run {self.run_id} knows no '{endpoint}'")

    def watermark(self, table: str) -> Watermark | None:
        """Return the watermark of a table when the run began, if there was one."""
        return next((each for each in self.watermarks if each.table == table), None)


class ClaimedTable(Model):
    """A table that a run holds under a lease, and the manifests to merge into it, oldest first."""

    table: Name
    epoch: int
    manifests: tuple[str, ...]


class Claim(Document):
    """What a run took: tables under leases, of each a bounded number of pending landings.

    leased_at: when the run had got the leases. deferred: tables that others held. waiting: tables
    that wait for a person, or back off.
    """

    run_id: RunId
    leased_at: AwareDatetime
    tables: tuple[ClaimedTable, ...]
    deferred: tuple[Name, ...] = ()
    waiting: tuple[Name, ...] = ()

    @property
    def manifests(self) -> tuple[str, ...]:
        """All manifests, those of one table together."""
        return tuple(key for each in self.tables for key in each.manifests)

    def share(self, number: int) -> tuple[str, ...]:
        """Return the manifests of one share: each share is validated by one call."""
        return self.manifests[number :: self.shares]

    @property
    def shares(self) -> int:
        """How many shares there are: small enough for a call, few enough for a Map."""
        return min(len(self.manifests), MAX_SHARES)

    def epoch(self, table: str) -> int:
        """Return the epoch of a table's lease; of two runs the later one had the higher."""
        return next((each.epoch for each in self.tables if each.table == table), 0)


class Newest(Document):
    """The newest complete landings of a table: manifests of a full one, of one that moved it."""

    full: str | None = None
    moving: str | None = None


class Superseded(Model):
    """A landing that is not merged, because the newer full extract `by` is."""

    manifest: str
    by: str


class SupersededLandings(Document):
    """What PlanTables left out of one table; the landings are kept."""

    table: Name
    landings: tuple[Superseded, ...]


class TablePlan(Model):
    """What one table needs: `batches` in the order in which they must be merged."""

    table: Name
    contract: Contract
    create: bool
    batches: tuple[Batch, ...]


class Plan(Document):
    """What PlanTables decided; CreateTables and MergeScd2 do it.

    failed: why nothing can be merged into a table, by table. workers: those of MergeScd2.
    """

    run_id: RunId
    tables: tuple[TablePlan, ...]
    workers: Workers | None = None
    failed: dict[Name, str] = Field(default_factory=dict)


class FailureRecord(Document):
    """An error of a run; with `endpoint`, only its extraction failed; with `table`, a job on it."""

    run_id: RunId
    source: Name
    endpoint: Name | None = None
    table: Name | None = None
    error: str
    cause: str
    recorded_at: AwareDatetime


class LandingVerdict(Model):
    """What ValidateLanding found in one landing; `error` and `cause` if it is refused.

    decided: it is complete, or a person has rejected it: there is nothing to do.
    """

    manifest: str
    verdict: Verdict | None = None
    error: str | None = None
    cause: str = ""
    decided: bool = False

    @property
    def good(self) -> bool:
        """Whether it is to be merged."""
        return not self.decided and self.error is None


class Verdicts(Document):
    """The landings of one share of a run's claim."""

    share: int
    landings: tuple[LandingVerdict, ...]


def write_once(store: ObjectStore, key: str, document: Document) -> bool:
    """Write a document unless there is one; return whether it was written."""
    return put_once(store, key, document.to_json())


def put_once(store: ObjectStore, key: str, body: bytes) -> bool:
    """Write an object unless there is one; return whether it was written."""
    try:
        store.put(key, body, if_absent=True)
    except PreconditionFailedError:
        return False
    return True


def read_document(store: ObjectStore, key: str, model: type[Stored]) -> Stored:
    """Read one document.

    Raises:
        LandingCorruptError: It is missing or is not what its name says.
        NewerDocumentError: A newer release wrote it in a form that this one cannot read.
    """
    try:
        text = store.get(key)
    except ObjectNotFoundError as error:
        raise LandingCorruptError(f"{key}: missing") from error
    return model.parse(text, name=key)


def read_optional(store: ObjectStore, key: str, model: type[Stored]) -> Stored | None:
    """Read one document, or return None if there is none."""
    try:
        return model.parse(store.get(key), name=key)
    except ObjectNotFoundError:
        return None


def read_run(store: ObjectStore, run_id: str) -> Run:
    """Read a run document."""
    return read_document(store, layout.run_key(run_id), Run)


def read_plan(store: ObjectStore, run_id: str) -> Plan:
    """Read a plan."""
    return read_document(store, layout.plan_key(run_id), Plan)


def read_claim(store: ObjectStore, run_id: str) -> Claim | None:
    """Read what a run claimed; None if it has not come so far."""
    return read_optional(store, layout.claim_key(run_id), Claim)


def read_verdicts(store: ObjectStore, claim: Claim) -> dict[str, LandingVerdict]:
    """Read what was found in the landings of a claim, by manifest."""
    found: dict[str, LandingVerdict] = {}
    for share in range(claim.shares):
        document = read_document(store, layout.verdicts_key(claim.run_id, share), Verdicts)
        found |= {each.manifest: each for each in document.landings}
    return found
