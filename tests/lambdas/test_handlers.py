import ast
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import boto3
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from lakekit import layout
from lakekit.aws import settings
from lakekit.aws.object_store import PIECE
from lakekit.batch import MergeResult
from lakekit.errors import (
    InvalidEnvironmentError,
    InvalidStepInputError,
    SourceRejectedError,
    UnknownSourceError,
)
from lakekit.landing.index import is_indexed
from lakekit.steps.jobs import MergeScd2Result
from tests.lambdas.conftest import CONTRACT, MACHINE, MAINTENANCE, SOURCE, Account, Context, call
from tests.tiers import long
from tests.unit.runs.kit import published, table

Events = Callable[[str], Any]
RUN = "7c1d6f0e-2f4a-4b7e-9d55-0c8b6a1f2e3d"
PREFIX = "raw/shop/orders/20260101_120000/"
HANDLERS = sorted((Path(__file__).parents[2] / "lambdas").glob("*/handler.py"))


@pytest.fixture
def api(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> HTTPServer:
    """A source of three pages that wants its key, at an address that the environment gives."""

    def answer(request: Request) -> Response:
        if request.headers.get("X-Api-Key") != "s3cret-value":
            return Response("{}", status=401)
        items = [{"id": int(request.args["page"]), "price": 1.5}]
        return Response(json.dumps({"items": items, "pages": 3}), content_type="application/json")

    httpserver.expect_request("/orders").respond_with_handler(answer)
    address = httpserver.url_for("").rstrip("/")
    monkeypatch.setenv("LAKEKIT_BASE_URLS", json.dumps({"shop": address}))
    return httpserver


RUN_EVENT = {"run_id": RUN, "source": "shop"}


def extract(account: Account, **context: Any) -> dict[str, Any]:
    event = RUN_EVENT | {"endpoint": "orders", "continuation": None}
    result = account.call("extract_pages", event, Context(**context))
    while not result["done"]:
        event["continuation"] = result["continuation"]
        result = account.call("extract_pages", event, Context(**context))
    return result


def claim(account: Account, event: Events, run_id: str) -> list[str]:
    """Start a run that only loads what is pending, and return the tables that it gets."""
    request = {"source": "shop", "extract": False}
    account.call("start_run", event("start_run") | {"run_id": run_id, "request": request})
    account.call("claim_landings", {"run_id": run_id, "source": "shop"})
    return [each["table"] for each in account.read(layout.claim_key(run_id))["tables"]]


@pytest.mark.parametrize("seconds", [800, 0])
def test_a_run_goes_through_all_its_functions(
    account: Account, api: HTTPServer, event: Events, seconds: float
) -> None:
    started = account.call("start_run", event("start_run"))
    extracted = extract(account, seconds=seconds)
    claimed = account.call("claim_landings", RUN_EVENT)
    validated = account.call("validate_landing", RUN_EVENT | {"share": 0})
    plan = account.call("plan_tables", RUN_EVENT)
    account.table(table(published(2, RUN)))
    merge = MergeResult(table="lake.lakekit_dev.orders", run_id=RUN, opened=3, snapshot_id=2)
    document = MergeScd2Result(table="orders", merges=(merge,)).to_json()
    account.write(layout.result_key(RUN, "merge_scd2", "orders"), document)
    completed = account.call("complete_run", RUN_EVENT | {"failure": None})

    assert started == {"endpoints": ["orders"]}
    assert (extracted["rows"], extracted["pages"]) == (3, 3)
    assert claimed == {"shares": [0], "deferred": 0}
    assert validated == {"good": 1, "refused": 0}
    workers = {"number": 3, "type": "G.2X", "execution_class": "STANDARD"}
    assert plan == {"create": True, "merge": True, "superseded": 0, "workers": workers}
    assert completed == {"outcome": "done", "maintain": False, "error": None, "cause": None}
    assert f"{PREFIX}.complete" in account.names()
    assert not [name for name in account.names() if name.startswith("index/")]
    assert account.read("leases/orders.json")["expires_at"] < datetime.now(UTC).isoformat()
    (shown,) = account.read(layout.PUBLISHED, "results")["runs"]
    assert (shown["run_id"], shown["outcome"], shown["loads"][0]["opened"]) == (RUN, "done", 3)


def test_a_run_that_cannot_be_published_is_complete_all_the_same(
    account: Account, api: HTTPServer, event: Events, capsys: pytest.CaptureFixture[str]
) -> None:
    account.call("start_run", event("start_run"))
    account.write(layout.PUBLISHED, {"schema_version": 9}, "results")

    completed = account.call("complete_run", RUN_EVENT | {"failure": None})

    assert completed["outcome"] == "done"
    assert "not published" in capsys.readouterr().out
    assert account.read(layout.PUBLISHED, "results") == {"schema_version": 9}


def test_a_table_that_fits_its_contract_needs_no_job_to_create_it(
    account: Account, api: HTTPServer, event: Events
) -> None:
    account.call("start_run", event("start_run"))
    extract(account)
    account.call("claim_landings", RUN_EVENT)
    account.call("validate_landing", RUN_EVENT | {"share": 0})
    account.table(table())

    assert account.call("plan_tables", RUN_EVENT) == {
        "create": False, "merge": True, "superseded": 0, "workers": ANY,
    }  # fmt: skip


def test_the_lease_of_a_run_that_is_at_work_is_respected(
    account: Account, api: HTTPServer, event: Events
) -> None:
    account.call("start_run", event("start_run"))
    extract(account)
    account.sfn.start_execution(stateMachineArn=MACHINE, name="other", input="{}")

    assert claim(account, event, "other") == ["orders"]
    assert claim(account, event, "meanwhile") == []

    execution = MACHINE.replace(":stateMachine:", ":execution:") + ":other"
    account.sfn.stop_execution(executionArn=execution)
    assert claim(account, event, "then") == ["orders"]


def test_the_lease_of_maintenance_is_respected_until_its_execution_ends(
    account: Account, api: HTTPServer, event: Events
) -> None:
    """iceberg #9521: "Glue detected concurrent update" when two rewrites run at one time."""
    account.call("start_run", event("start_run"))
    extract(account)
    account.sfn.start_execution(stateMachineArn=MAINTENANCE, name="care", input="{}")
    settings.read_settings().flow.leases.acquire("orders", "maintain-care")

    assert claim(account, event, "meanwhile") == []

    execution = MAINTENANCE.replace(":stateMachine:", ":execution:") + ":care"
    account.sfn.stop_execution(executionArn=execution)
    assert claim(account, event, "then") == ["orders"]


def test_a_failure_is_recorded_and_what_is_pending_is_tried_again(
    account: Account, api: HTTPServer, event: Events
) -> None:
    account.call("start_run", event("start_run"))
    extract(account)
    account.call("claim_landings", RUN_EVENT)

    result = account.call("record_failure", event("record_failure"))

    assert account.read(result["key"])["error"] == "LandingCorruptError"
    [next_run] = account.sfn.list_executions(stateMachineArn=MACHINE)["executions"]
    assert claim(account, event, next_run["name"]) == ["orders"]


def test_after_maintenance_what_waited_for_it_is_started(
    account: Account, api: HTTPServer, event: Events
) -> None:
    account.call("start_run", event("start_run"))
    extract(account)

    assert account.call("start_pending", {"run_id": "care", "source": "shop"}) == {"started": True}
    [next_run] = account.sfn.list_executions(stateMachineArn=MACHINE)["executions"]
    assert next_run["name"].startswith("next-")


def test_a_missing_secret_is_reported_by_its_name(
    account: Account, api: HTTPServer, event: Events
) -> None:
    boto3.client("secretsmanager").delete_secret(
        SecretId="dev-shop-key", ForceDeleteWithoutRecovery=True
    )
    account.call("start_run", event("start_run"))

    with pytest.raises(SourceRejectedError, match="secret dev-shop-key: ResourceNotFoundException"):
        extract(account)


def test_no_log_line_holds_a_secret(
    account: Account, api: HTTPServer, event: Events, capsys: pytest.CaptureFixture[str]
) -> None:
    account.call("start_run", event("start_run"))
    extract(account)

    output = capsys.readouterr().out
    assert '"service":"extract_pages"' in output
    assert f'"run_id":"{RUN}"' in output
    assert "s3cret-value" not in output


@pytest.mark.parametrize("path", HANDLERS, ids=lambda path: path.parent.name)
def test_a_handler_parses_calls_and_returns(path: Path) -> None:
    functions = [n for n in ast.parse(path.read_text()).body if isinstance(n, ast.FunctionDef)]
    lines = [(f.end_lineno or 0) - f.lineno + 1 for f in functions]

    assert "handler" in [f.name for f in functions]
    assert sum(lines) <= 25


@pytest.mark.parametrize(
    "step",
    ["start_run", "extract_pages", "claim_landings", "validate_landing", "plan_tables",
     "complete_run", "record_failure", "start_pending"],
)  # fmt: skip
def test_an_event_of_the_wrong_shape_is_refused(step: str) -> None:
    with pytest.raises(InvalidStepInputError):
        call(step, {"run_id": "r", "nonsense": 1})


def test_an_unknown_source_is_refused(account: Account, event: Events) -> None:
    change = {"source": "nobody", "request": {"source": "nobody"}}

    with pytest.raises(UnknownSourceError):
        account.call("start_run", event("start_run") | change)


def test_says_which_variable_is_missing(
    account: Account, event: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAKEKIT_LANDING_BUCKET")

    with pytest.raises(InvalidEnvironmentError, match="landing_bucket"):
        account.call("start_run", event("start_run"))


def test_a_sweep_prints_what_alarms_watch_and_names_what_is_late(
    account: Account, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.read_settings().config.joinpath("sources/shop.yaml").write_text(  # type: ignore[union-attr]
        "source: shop\nbase_url: https://shop.example\nschedule: rate(1 minute)\n"
    )
    account.write("index/pending/shop/orders/20260101_000000", b"")
    account.write("watch/started/shop", b"")
    later = settings.utc_now() + timedelta(hours=1)
    monkeypatch.setattr("lambdas.sweep.handler.utc_now", lambda: later)

    account.call("sweep", {})

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    [metrics] = [line for line in lines if "_aws" in line]
    assert metrics["SourcesOverdue"] == [1.0]
    assert metrics["LandingsPending"] == [1.0]
    assert 3500 < metrics["OldestPendingSeconds"][0] < 3700
    assert (metrics["database"], metrics["service"]) == ("lakekit_dev", "sweep")
    [late] = [line for line in lines if line.get("message") == "late"]
    assert late["overdue"] == ["shop"]


@pytest.mark.parametrize("owner", ["other", long("maintain-other")])
@pytest.mark.parametrize(
    "step", ["complete_run", "record_failure", "route_file", "start_pending", "sweep"]
)
def test_who_starts_runs_sees_whether_the_owner_of_a_lease_is_at_work(
    account: Account, api: HTTPServer, event: Events, step: str, owner: str
) -> None:
    account.call("start_run", event("start_run"))
    extract(account)
    machine = MAINTENANCE if owner.startswith("maintain-") else MACHINE
    account.sfn.start_execution(stateMachineArn=machine, name="other", input="{}")
    # It has taken over from the run, which was late.
    account.call("claim_landings", RUN_EVENT)
    account.call("validate_landing", RUN_EVENT | {"share": 0})
    account.call("plan_tables", RUN_EVENT)
    account.write("leases/orders.json", account.read("leases/orders.json") | {"owner": owner})
    dropped = event("inbox_object_created")
    message = json.loads(dropped["Records"][0]["body"])
    item = message["detail"]["object"]
    item["etag"] = account.write(item["key"], b'{"id": 1}').strip('"')
    dropped["Records"][0]["body"] = json.dumps(message)
    events = {
        "complete_run": RUN_EVENT | {"failure": event("record_failure")["failure"]},
        "record_failure": event("record_failure"),
        "route_file": dropped,
        "start_pending": {"run_id": "care", "source": "shop"},
        "sweep": {},
    }

    account.call(step, events[step])

    started = account.sfn.list_executions(stateMachineArn=MACHINE)["executions"]
    assert [each["name"] for each in started] == (["other"] if machine == MACHINE else [])


def test_after_maintenance_its_lease_of_a_table_that_waits_is_given_back(
    account: Account, api: HTTPServer, event: Events
) -> None:
    account.call("start_run", event("start_run"))
    extract(account)
    settings.read_settings().flow.leases.acquire("orders", "maintain-care")

    assert account.call("start_pending", {"run_id": "care", "source": "shop"}) == {"started": True}
    assert account.read("leases/orders.json")["expires_at"] < datetime.now(UTC).isoformat()


def test_a_claim_sees_that_a_landing_waits_for_a_person(account: Account) -> None:
    manifest = f"{PREFIX}manifest.json"
    account.write(layout.index_key("blocked", manifest), {})

    with account.rights.acting_as("claim_landings"):
        assert is_indexed(settings.read_settings().store, manifest)


def test_a_sweep_closes_a_run_that_was_stopped_and_looks_at_its_tables(
    account: Account, api: HTTPServer, event: Events
) -> None:
    file = settings.read_settings().config.joinpath("sources/shop.yaml")  # type: ignore[union-attr]
    file.write_text(f"{SOURCE}schedule: rate(1 hour)\n")
    account.call("start_run", event("start_run"))
    extract(account)
    account.call("claim_landings", RUN_EVENT)
    account.table(table())
    arn = account.sfn.start_execution(stateMachineArn=MACHINE, name=RUN, input="{}")
    account.sfn.stop_execution(executionArn=arn["executionArn"])
    account.s3.delete_object(Bucket="landing", Key="watch/started/shop")

    account.call("sweep", {})

    assert not [name for name in account.names() if name.startswith("index/open/")]
    assert "watch/started/shop" in account.names()


def test_a_run_of_what_is_new_begins_where_the_table_is_complete(
    account: Account, event: Events
) -> None:
    incremental = (
        "extract: incremental, params: {since: '{watermark}'}, "
        "incremental: {watermark: $.id, type: number, start: 0}, "
    )
    file = settings.read_settings().config.joinpath("contracts/orders.yaml")  # type: ignore[union-attr]
    file.write_text(CONTRACT.replace("path: /orders,", f"path: /orders, {incremental}"))
    mark = {"schema_version": 1, "source": "shop", "table": "orders", "by": "$.id",
            "type": "number", "value": "7", "changed_at": "2026-01-01T00:00:00Z"}  # fmt: skip
    account.write(layout.watermark_key("shop", "orders"), mark)

    account.call("start_run", event("start_run"))

    [kept] = account.read(layout.run_key(RUN))["watermarks"]
    assert kept["value"] == "7"


def test_the_parts_of_a_file_that_could_not_be_sent_are_given_up(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = io.BytesIO(b"x" * (PIECE + 1))
    monkeypatch.setattr(file, "read", lambda size, read=file.read: read(size) or 1 / 0)

    with account.rights.acting_as("extract_pages"), pytest.raises(ZeroDivisionError):
        settings.read_settings().store.put_file("raw/shop/orders/x", file)

    assert "Uploads" not in account.s3.list_multipart_uploads(Bucket="landing")
