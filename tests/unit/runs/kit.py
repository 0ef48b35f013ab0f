"""A source, its contract, an API and a catalog, for the stories of the light steps."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from lakekit import layout
from lakekit.aws.lease import Leases
from lakekit.config.source import Source, load_source
from lakekit.config.workers import Jobs
from lakekit.contract.contract import Contract, load_contract
from lakekit.errors import LakekitError
from lakekit.extract import Answer, RunLimits, SourceRequest
from lakekit.landing.writer import LandingWriter, Manifest, Request, publish
from lakekit.ports import Flow
from lakekit.runs.documents import (
    Claim,
    ClaimedTable,
    LandingVerdict,
    Run,
    Verdicts,
    write_once,
)
from lakekit.runs.plan_tables import plan_tables
from lakekit.steps.functions import PlanTables, PlanTablesResult
from tests.fakes import ManualClock, MemoryObjectStore

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SOURCE = load_source("source: shop\nbase_url: https://shop.example")


def contract(name: str = "orders", **changes: Any) -> Contract:
    text = (
        f"contract: {name}\nsource: shop\n"
        f"endpoint: {{path: /{name}, records: $.items, "
        "paginator: {type: page_number, total_path: $.pages}}\n"
        "schema: [{name: id, type: bigint}, {name: price, type: double}]\nhistory: {keys: [id]}\n"
        "quality: {max_rejected_ratio: 0.5}\n"
    )
    return load_contract(text).model_copy(update=changes)


def child(name: str = "items", **parent: Any) -> Contract:
    """Return the contract of a child endpoint of orders."""
    given = {"table": "orders", "fields": {"id": "$.id"}} | parent
    given = {key: value for key, value in given.items() if value is not None}
    return load_contract(
        f"contract: {name}\nsource: shop\n"
        "endpoint: {path: '/orders/{parent.id}/items', records: $.items, "
        f"parent: {json.dumps(given)}, "
        "paginator: {type: page_number, total_path: $.pages}}\n"
        "schema: [{name: id, type: bigint, from: $.parent.id}]\nhistory: {keys: [id]}\n"
    )


def begun(store: MemoryObjectStore, *contracts: Contract, **changes: Any) -> Run:
    """Write the document of run `r` and return it."""
    fields: dict[str, Any] = {
        "run_id": "r", "started_at": NOON, "extraction_time": NOON, "source": SOURCE,
        "contracts": contracts or (contract(),),
    }  # fmt: skip
    run = Run(**fields | changes)
    write_once(store, layout.run_key(run.run_id), run)
    return run


def landed(
    store: MemoryObjectStore, *records: Any, hour: int = 12, run_id: str = "r", **changes: Any
) -> str:
    """Land records as text or as values, and return the manifest's key."""
    fields: dict[str, Any] = {
        "run_id": run_id, "source": "shop", "endpoint": "orders", "contract_version": 1,
        "extract": "full", "extraction_time": NOON.replace(hour=hour),
        "request": Request(url="https://shop.example/orders"), "pages": 1,
    } | changes  # fmt: skip
    prefix = layout.raw_prefix(fields["source"], fields["endpoint"], fields["extraction_time"])
    writer = LandingWriter(store, prefix)
    writer.write(r if isinstance(r, bytes) else json.dumps(r).encode() for r in records)
    parts = writer.flush()
    return publish(store, Manifest(rows=len(records), parts=parts, **fields))


class OpenClient:
    """What a client of a source without secrets does beyond its requests."""

    def close(self) -> None:
        pass

    def redact(self, value: Any) -> Any:
        return value

    def restore(self, value: Any) -> Any:
        return value

    def redacted_error(self, error: Exception) -> Exception:
        return error


class Api(OpenClient):
    """A source of numbered pages, two records each; `faults` are raised before a page once."""

    def __init__(self, pages: int, faults: Mapping[int, LakekitError] | None = None) -> None:
        self.pages = pages
        self.faults = dict(faults or {})
        self.asked: list[int] = []
        self.calls = 0
        self.limits: RunLimits | None = None

    def __call__(self, source: Source, limits: RunLimits) -> "Api":
        self.calls = 0
        self.limits = limits
        return self

    def send(self, request: SourceRequest) -> Answer:
        page = int(dict(request.params)["page"])
        if self.limits and self.limits.count_request:
            self.limits.count_request()
        self.asked.append(page)
        self.calls += 1
        if page in self.faults:
            raise self.faults.pop(page)
        items = [{"id": 2 * page + n, "price": 1.5} for n in range(2)]
        body = json.dumps({"items": items, "pages": self.pages}).encode()
        return Answer(request.url, 200, {}, body)


class Catalog:
    """Metadata documents of tables."""

    def __init__(self, **tables: Any) -> None:
        self.tables = tables

    def metadata(self, table: str) -> Any:
        return self.tables.get(table)


class Executions:
    """The runs of `load_source` by name, with what each was started with."""

    def __init__(self) -> None:
        self.started: dict[str, dict[str, Any]] = {}
        self.ended: set[str] = set()

    def start(self, name: str, payload: dict[str, Any]) -> bool:
        if name in self.started:
            return False
        self.started[name] = payload
        return True

    def is_running(self, name: str) -> bool:
        return name not in self.ended


class World(NamedTuple):
    """A flow over memory, and its parts."""

    store: MemoryObjectStore
    leases: Leases
    executions: Executions
    clock: ManualClock

    @property
    def flow(self) -> Flow:
        return Flow(*self)

    def pending(self) -> list[str]:
        return sorted(key.removeprefix("index/pending/") for key in self.keys("index/pending/"))

    def blocked(self) -> list[str]:
        return sorted(key.removeprefix("index/blocked/") for key in self.keys("index/blocked/"))

    def keys(self, prefix: str) -> list[str]:
        return [info.key for info in self.store.list(prefix)]


def world() -> World:
    executions, clock = Executions(), ManualClock(NOON)
    store = MemoryObjectStore(clock)
    leases = Leases(store, clock, lifetime=timedelta(hours=4), is_running=executions.is_running)
    return World(store, leases, executions, clock)


def claimed(store: MemoryObjectStore, *manifests: str, run_id: str = "r", epoch: int = 1) -> Claim:
    """Write the claim of a run, and the verdict that all its landings are good."""
    tables: dict[str, list[str]] = {}
    for key in manifests:
        tables.setdefault(key.split("/")[2], []).append(key)
    claim = Claim(
        run_id=run_id,
        leased_at=NOON,
        tables=tuple(
            ClaimedTable(table=name, epoch=epoch, manifests=tuple(keys))
            for name, keys in tables.items()
        ),
    )
    store.put(layout.claim_key(run_id), claim.to_json())
    for share in range(claim.shares):
        good = tuple(LandingVerdict(manifest=key) for key in claim.share(share))
        document = Verdicts(share=share, landings=good)
        store.put(layout.verdicts_key(run_id, share), document.to_json())
    return claim


def snapshot(number: int, parent: int | None = None, **summary: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "snapshot-id": number,
        "timestamp-ms": int(NOON.timestamp() * 1000) + number,
        "summary": {name.replace("_", "-"): value for name, value in summary.items()},
    }
    return found | ({"parent-snapshot-id": parent} if parent else {})


def published(number: int, batch: str, parent: int | None = None) -> dict[str, Any]:
    """Return a snapshot that carries a batch's id."""
    found = snapshot(number, parent)
    return found | {"summary": {"lakekit.run-id": batch}}


def table(*snapshots: dict[str, Any], main: int | None = None, **changes: Any) -> dict[str, Any]:
    """Return the metadata document of the table of `contract()`, as Iceberg 1.10 writes it."""
    from lakekit.sql.tables import table_properties  # noqa: PLC0415

    control = {
        "_ingested_at": "timestamp", "_source_file": "string", "_is_current": "boolean",
        "_valid_from": "timestamp", "_valid_to": "timestamp", "_row_hash": "long",
        "_line_hash": "long", "_line_check": "long",
    }  # fmt: skip
    columns = {"id": "long", "price": "double", **control}
    fields = [
        {"id": n, "name": name, "required": False, "type": kind}
        for n, (name, kind) in enumerate(columns.items(), 1)
    ]
    head = main if main is not None else (snapshots[-1]["snapshot-id"] if snapshots else None)
    return {
        "format-version": 2,
        "last-updated-ms": int(NOON.timestamp() * 1000) + 1000,
        "current-schema-id": 0,
        "schemas": [{"schema-id": 0, "type": "struct", "fields": fields}],
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": [
            {"name": "_is_current", "transform": "identity", "source-id": 5, "field-id": 1000}]}],
        # Iceberg takes the format out of the properties.
        "properties": {
            key: value for key, value in table_properties(contract()).items()
            if key != "format-version"
        },
        "current-snapshot-id": head if head is not None else -1,
        "refs": {"main": {"snapshot-id": head, "type": "branch"}} if head is not None else {},
        "snapshots": list(snapshots),
    } | changes  # fmt: skip


def plan(
    store: MemoryObjectStore, *manifests: str, run_id: str = "r", **tables: Any
) -> PlanTablesResult:
    claimed(store, *manifests, run_id=run_id)
    step = PlanTables(run_id=run_id, source="shop")
    return plan_tables(step, store, Catalog(**tables), Jobs())
