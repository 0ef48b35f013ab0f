"""What a run keeps below `runs/{run_id}/`: its document, its plan, what its steps say they did."""

from typing import TypeVar

from pydantic import AwareDatetime, Field, ValidationError

from lakekit import layout
from lakekit.batch import Batch
from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.errors import LandingCorruptError, UnknownSourceError
from lakekit.landing.validate import Verdict
from lakekit.models import Model, Name
from lakekit.ports import ObjectNotFoundError, ObjectStore, PreconditionFailedError
from lakekit.steps.events import RunId

Document = TypeVar("Document", bound=Model)


class Run(Model):
    """The run document: what holds from StartRun to CompleteRun, whatever is edited meanwhile.

    claimed: keys of the manifests that were pending when the run began, oldest first.
    epochs: of the lease that the run had of each table; of two runs the later one had the higher.
    leased_at: when it had got them; later than `started_at` by what it waited for others.
    """

    run_id: RunId
    started_at: AwareDatetime
    extraction_time: AwareDatetime
    source: Source
    contracts: tuple[Contract, ...]
    claimed: tuple[str, ...] = ()
    extracts: bool = True
    epochs: dict[Name, int] = Field(default_factory=dict)
    leased_at: AwareDatetime | None = None

    def contract(self, endpoint: str) -> Contract:
        """Return the contract of an endpoint, or raise UnknownSourceError."""
        for contract in self.contracts:
            if contract.contract == endpoint:
                return contract
        raise UnknownSourceError(f"{self.source.source}: run {self.run_id} knows no '{endpoint}'")


class Superseded(Model):
    """A landing that is not merged, because the newer full extract `by` is."""

    manifest: str
    by: str


class SupersededLandings(Model):
    """What PlanTables left out of one table; the landings are kept."""

    table: Name
    landings: tuple[Superseded, ...]


class TablePlan(Model):
    """What one table needs: `batches` in the order in which they must be merged."""

    table: Name
    contract: Contract
    create: bool
    batches: tuple[Batch, ...]


class Plan(Model):
    """What PlanTables decided; CreateTables and MergeScd2 do it."""

    run_id: RunId
    tables: tuple[TablePlan, ...]


class FailureRecord(Model):
    """An error of a run; with `endpoint`, only that endpoint failed."""

    run_id: RunId
    source: Name
    endpoint: Name | None = None
    error: str
    cause: str
    recorded_at: AwareDatetime


class LandingVerdict(Model):
    """What ValidateLanding found in one landing; `error` if it is rejected."""

    manifest: str
    verdict: Verdict | None = None
    error: str | None = None


class EndpointVerdicts(Model):
    """The landings of one endpoint that a run looked at, oldest extraction first."""

    endpoint: str
    landings: tuple[LandingVerdict, ...]


def write_once(store: ObjectStore, key: str, document: Model) -> bool:
    """Write a document unless there is one; return whether it was written."""
    return put_once(store, key, to_json(document))


def put_once(store: ObjectStore, key: str, body: bytes) -> bool:
    """Write an object unless there is one; return whether it was written."""
    try:
        store.put(key, body, if_absent=True)
    except PreconditionFailedError:
        return False
    return True


def to_json(document: Model) -> bytes:
    """Return a document's bytes; fields have the names that a person writes."""
    return document.model_dump_json(indent=2, by_alias=True).encode()


def read_document(store: ObjectStore, key: str, model: type[Document]) -> Document:
    """Read one document.

    Raises:
        LandingCorruptError: It is missing or is not what its name says.
    """
    try:
        return model.model_validate_json(store.get(key))
    except (ObjectNotFoundError, ValidationError) as error:
        raise LandingCorruptError(f"{key}: missing or not a {model.__name__}") from error


def read_run(store: ObjectStore, run_id: str) -> Run:
    """Read a run document."""
    return read_document(store, layout.run_key(run_id), Run)


def read_plan(store: ObjectStore, run_id: str) -> Plan:
    """Read a plan."""
    return read_document(store, layout.plan_key(run_id), Plan)
