"""A document of each kind with all its fields, as the code of today writes it."""

from datetime import UTC, datetime
from typing import Any

from lakekit import table_properties as properties
from lakekit.aws.lease import Lease
from lakekit.batch import Batch, MergeResult
from lakekit.config.source import load_source
from lakekit.config.workers import Workers
from lakekit.contract.contract import load_contract
from lakekit.documents import Document
from lakekit.extract.call_budget import Calls
from lakekit.health import Health, Maintained
from lakekit.landing.census import Verdict
from lakekit.landing.decisions import Decision
from lakekit.landing.index import Blocked
from lakekit.landing.mark import Mark
from lakekit.landing.watermark import Watermark
from lakekit.landing.writer import Manifest, Part, Progress, Request
from lakekit.local.files import ConvertedFile, LandedFile
from lakekit.local.landing import LandedRun
from lakekit.page.published import PublishedLoad, PublishedRun, PublishedRuns
from lakekit.runs.documents import (
    Claim,
    ClaimedTable,
    FailureRecord,
    LandingVerdict,
    Newest,
    Plan,
    Run,
    Superseded,
    SupersededLandings,
    TablePlan,
    Verdicts,
)
from lakekit.runs.next_run import Backoff
from lakekit.steps.events import StepModel
from lakekit.steps.functions import LoadRequest
from lakekit.steps.jobs import (
    CreateTables,
    CreateTablesResult,
    MaintainTables,
    MaintainTablesResult,
    MergeScd2,
    MergeScd2Result,
    RebuildTableResult,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SIX = NOON.replace(hour=6)
FOLDER = "raw/shop/orders/20260101_120000/"
KEY = f"{FOLDER}manifest.json"
OLDER = "raw/shop/orders/20260101_060000/manifest.json"
SOURCE = load_source(
    """
source: shop
description: A shop
base_url: https://shop.example
auth:
  - {type: api_key, header: X-Key, secret: {name: "lakekit/{environment}/shop", field: key}}
  - {type: api_key, query: key, secret: "lakekit/{environment}/shop"}
environments: [dev, prod]
schedule: {expression: rate(1 hour), time_zone: Europe/London, flexible_minutes: 15}
call_budget: {max_requests_per_run: 10, max_requests_per_second: 2}
timeout_seconds: 20
max_response_mb: 100
"""
)
ORDERS = load_contract(
    """
contract: orders
version: 2
description: Orders of the shop
source: shop
endpoint:
  path: /orders
  params: {state: all, tag: [a, b], since: "{watermark}"}
  headers: {X-Version: "2"}
  records: $.items
  absent_records: empty
  errors: [$.errors]
  may_ignore: [$.next]
  paginator: {type: page_number, page_param: p, first_page: 0, total_path: $.pages}
  extract: changes
  incremental:
    watermark: $.meta.at
    type: timestamp
    start: 2026-01-01T00:00:00Z
    look_back_seconds: 300
schema:
  - {name: id, type: bigint, required: true, description: Its number}
  - {name: at, type: timestamp, from: $.meta.at}
  - {name: state, type: string, renamed_from: status, sensitive: true}
  - {name: op, type: string, from: Op}
history:
  keys: [id]
  sequence_by: at
  track_history_except: [at]
  untracked: ignore
  apply_as_deletes: op = 'D'
  except_columns: [op]
  deletes: mark
  tie_break: [state]
  null_keys: fail
  new_column: reversion
quality: {max_rejected_ratio: 0.5}
table: {partition_by: ["days(at)"], properties: {owner: shop}}
files:
  {charset: cp1252, delimiter: ";", quote: "~", columns: [id, Op], null_value: "-", changes: dms}
maintenance:
  target_file_size_mb: 64
  small_files_threshold: 6
  snapshots: {max_age_days: 3, min_to_keep: 2}
"""
)
CLIENTS = load_contract(
    """
contract: clients
source: shop
endpoint:
  path: "/clients/{environment}"
  body: {json: {size: 10, from: "{window.start:unix}", to: "{window.end:unix}"}}
  records: $.clients
  shape: map
  map_key: id
  response: {format: json, charset: latin-1}
  paginator:
    type: cursor
    cursor_path: $.next
    cursor_param: $.after
    end_values: [0, false]
    total: {header: X-Total, counts: pages, changes: allowed}
    end_statuses: [404]
    following: {path: /clients/more, json: {size: 10}, headers: {X-Page: next}}
  extract: incremental
  incremental: {window: {days: 7}, start: 2026-01-01}
schema: [{name: id, type: bigint}, {name: region, type: string}]
history: {keys: [id, region], delete_scope: [region], max_deleted_ratio: 0.1}
"""
)
ITEMS = load_contract(
    """
contract: items
source: shop
endpoint:
  path: "/orders/{parent.id}/items"
  parent: {table: orders, fields: {id: $.id}, max_parents: 10, absent_parents: skip}
schema: [{name: order_id, type: bigint, from: $.parent.id}]
history: {keys: [order_id]}
"""
)
REGIONS = load_contract(
    """
contract: regions
source: shop
endpoint: {path: "/regions/{parent.code}", parent: {values: [{code: eu}, {code: 7}]}}
schema: [{name: code, type: string, from: $.parent.code}]
history: {keys: [code]}
"""
)
DUMPS = load_contract(
    """
contract: dumps
source: shop
endpoint:
  path: /exports
  body: {json: {table: orders}}
  response: {format: csv}
  export:
    id_path: $.id
    status_path: "/exports/{export.id}"
    state_path: $.state
    done: [ready, true, 2]
    failed: [failed]
    files_path: $.files[*].url
    files_origin: https://files.example
    poll_seconds: 60
    deadline_minutes: 90
schema: [{name: id, type: bigint}]
history: {keys: [id]}
"""
)
FEEDS = load_contract(
    """
contract: feeds
source: shop
endpoint:
  path: /feeds
  export:
    status_url_path: $.href
    state_path: $.state
    done: [ready]
    download_path: /feeds/latest
schema: [{name: id, type: bigint}]
history: {keys: [id]}
"""
)
BULKS = load_contract(
    """
contract: bulks
source: shop
endpoint:
  path: /bulks
  export: {status_url_header: Content-Location, files_path: "$.output[*].url"}
schema: [{name: id, type: bigint}]
history: {keys: [id]}
"""
)
PART = Part(
    key=f"{FOLDER}part-00000.ndjson.gz", rows=2, bytes=90, sha256="a" * 64, uncompressed_bytes=120
)
WATERMARK = Watermark(
    table="orders", by="$.meta.at", type="timestamp", value="2026-01-01T06:00:00Z",
    changed_at=NOON, manifest=OLDER, set_by="ann",
)  # fmt: skip
MARK = Mark(
    by="$.meta.at", type="timestamp", since="2026-01-01T06:00:00Z", until="2026-01-01T11:59:00Z",
    counted=4, unset=3, unreadable=2, ahead=1,
)  # fmt: skip
RECEIVED = PART.model_copy(update={"key": f"{FOLDER}original.csv.gz"})
BATCH = Batch(
    run_id="r-1", extract="changes", extraction_time=NOON, files=(f"s3://landing/{PART.key}",),
    bytes=120, approved=True, merged_until=NOON.replace(hour=13),
)  # fmt: skip
MERGED = MergeResult(
    table="orders", run_id="r-1", snapshot_id=7, committed=True, opened=1, closed=2, deleted=3,
    unchanged=4, duplicates=5, quarantined=6, superseded=7, deletes=8, restored=9,
    pass_id="pass-1",  # noqa: S106  no secret
)  # fmt: skip
HEALTH = Health(data_files=9, small_files=8, delete_files=7, manifests=6, snapshots=5, expirable=4)
JOB = {
    "run_id": "r-1", "source": "shop", "landing_bucket": "landing", "database": "lake",
    "warehouse": "s3://lake/warehouse",
}  # fmt: skip

DOCUMENTS: tuple[Document, ...] = (
    Run(
        run_id="r-1", started_at=NOON, extraction_time=NOON, source=SOURCE,
        contracts=(ORDERS, CLIENTS, ITEMS, REGIONS, DUMPS, FEEDS, BULKS), origin="schedule",
        watermarks=(WATERMARK,), window=(SIX, NOON),
    ),
    Claim(
        run_id="r-1", leased_at=NOON, deferred=("clients",), waiting=("carts",),
        tables=(ClaimedTable(table="orders", epoch=3, manifests=(OLDER, KEY)),),
    ),
    Verdicts(
        share=0,
        landings=(
            LandingVerdict(
                manifest=KEY,
                verdict=Verdict(
                    run_id="r-1", source="shop", endpoint="orders", rows=2, unparseable=1,
                    missing_keys=1, unknown_fields=("x",), absent_fields=("at",),
                ),
            ),
            LandingVerdict(manifest=OLDER, error="LandingCorruptError", cause="missing"),
            LandingVerdict(manifest=OLDER, decided=True),
        ),
    ),
    Plan(
        run_id="r-1", failed={"clients": "its keys cannot change"},
        tables=(TablePlan(table="orders", contract=ORDERS, create=True, batches=(BATCH,)),),
        workers=Workers(number=3, type="G.2X", execution_class="FLEX"),
    ),
    Manifest(
        run_id="r-1", source="shop", endpoint="orders", contract_version=2, extract="changes",
        extraction_time=NOON, request=Request(url="https://shop.example/orders", params={"a": "b"}),
        pages=1, rows=2, format="csv", parts=(RECEIVED,), converted=(PART,),
        watermark=MARK,
    ),
    Progress(run_id="r-1", parts=(PART,), pages=4, resume={"page": 5}, watermark=MARK),
    Calls(taken=42),
    SupersededLandings(table="orders", landings=(Superseded(manifest=OLDER, by=KEY),)),
    CreateTablesResult(table="orders", created=True, changes=("ALTER TABLE …",)),
    MergeScd2Result(
        table="orders", merges=(MERGED,), maintain=True, seconds=12.5, dpu_seconds=120,
        cost_usd=0.014667,
    ),
    MaintainTablesResult(
        table="orders", busy="held by r-2",
        maintained=(
            Maintained(
                table="orders", actions=("rewrite_data_files",), before=HEALTH, after=HEALTH
            ),
        ),
    ),
    RebuildTableResult(
        table="orders", runs=("r-0", "r-1"), missing=1, wrong=2, journal_missing=3,
        journal_wrong=4, snapshot_id=7, committed=True,
    ),
    FailureRecord(
        run_id="r-1", source="shop", endpoint="orders", table="orders",
        error="SourceRejectedError", cause="403", recorded_at=NOON,
    ),
    Lease(table="orders", owner="r-1", epoch=3, expires_at=NOON),
    Blocked(run_id="r-1", error="LandingCorruptError", cause="missing", blocked_at=NOON),
    Decision(reason="it was a test", decided_at=NOON, decided_by="ann"),
    Backoff(failures=2, until=NOON, run_id="r-1"),
    Newest(full=OLDER, moving=KEY),
    WATERMARK,
    PublishedRuns(
        runs=(
            PublishedRun(
                run_id="r-1", source="shop", started_at=SIX, ended_at=NOON, outcome="failed",
                error="TooManyDeletedError", cause="81 %", cost_usd=0.015,
                loads=(
                    PublishedLoad(table="orders", opened=3, closed=2, quarantined=1, records=9),
                ),
            ),
        ),
    ),
    LandedRun(
        contract="contract: orders", batch=BATCH, merged=True,
        files=(
            LandedFile(
                name="0.csv", received_as="a.csv", bytes=3, sha256="b" * 64,
                converted=ConvertedFile(name="0.ndjson.gz", bytes=4, sha256="c" * 64),
            ),
        ),
    ),
)  # fmt: skip

# What a run is started with, by a function of another release or a schedule; what a definition
# hands to jobs, which are those of the newest release.
HANDED: tuple[StepModel, ...] = (
    LoadRequest(
        source="shop",
        extraction_time=SIX,
        extract=False,
        origin="next",
        started_by="arn:x",
        window=(SIX, NOON),
        endpoints=("orders",),
    ),
    CreateTables(**JOB),
    MergeScd2(**JOB),
    MaintainTables(**JOB, lease_seconds=60, config_parameter="/p/dev/config"),
)

PROPERTIES: dict[properties.Property[Any], Any] = {
    properties.CONTRACT: properties.ContractProperty(
        version=2, mode="scd2", keys=("id",), sequence_by="at", deletes="mark",
        ignore_null_updates=True,
    ),
    properties.TRACKED: {"state": "string"},
    properties.ADDED_COLUMNS: {
        "state": properties.AddedColumnProperty(
            added_after=SIX.replace(tzinfo=None), scopes=('{"region": "x"}',)
        )
    },
    properties.RENAMES: [{"status": "state"}],
    properties.LINE_DIGESTS: properties.LineDigestsProperty(
        fingerprint="5f0c", renewed_at=SIX.replace(tzinfo=None), schema_changes=2
    ),
    properties.MAINTENANCE: properties.MaintenanceProperty(
        uncompacted=(-71,), manifests=120, orphans_removed=SIX
    ),
}  # fmt: skip
SNAPSHOT = {"lakekit.run-id": "pass-1", "lakekit.run-ids": '["r-1", "r-2", "r-3"]'}
