"""Events of OpenLineage, from the functions to S3 or to an address; and what happens without it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.lambdas.conftest import Account

Events = Callable[[str], Any]
CATALOG = "arn:aws:glue:eu-central-1:123456789012"


def wanted(monkeypatch: pytest.MonkeyPatch, url: str, **more: str) -> None:
    given = {"url": url, "catalog": CATALOG, **more}
    monkeypatch.setenv("LAKEKIT_LINEAGE", json.dumps(given))


def of_run(event: Events) -> dict[str, Any]:
    given = event("start_run")
    return {"run_id": given["run_id"], "source": "shop"}


def test_the_events_of_a_run_lie_below_the_prefix(
    account: Account, event: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted(monkeypatch, "s3://landing/lineage")
    run = of_run(event)

    account.call("start_run", event("start_run"))
    account.call("complete_run", run | {"failure": None})

    keys = [name for name in account.names() if name.startswith("lineage/")]
    found = {key.rpartition("-")[2]: account.read(key) for key in keys}
    assert sorted(found) == ["COMPLETE.json", "START.json"]
    assert all(key.split("/")[2].startswith(run["run_id"]) for key in keys)
    assert found["START.json"]["run"]["runId"] == found["COMPLETE.json"]["run"]["runId"]
    assert [each["name"] for each in found["START.json"]["inputs"]] == [
        "/orders", "raw/shop/orders",
    ]  # fmt: skip


def test_an_address_gets_them_with_its_token(
    account: Account, event: Events, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[Any] = []

    def take(request: Request) -> Response:
        taken.append((request.headers["Authorization"], json.loads(request.data)))
        return Response(status=201)

    httpserver.expect_request("/api/v1/lineage", method="POST").respond_with_handler(take)
    wanted(monkeypatch, httpserver.url_for("/api/v1/lineage"), secret="{environment}-shop-key")  # noqa: S106
    for step in ("start_run", "record_failure"):
        account.may_read_secret(step, "dev-shop-key")
    account.call("start_run", event("start_run"))
    failure = event("record_failure")
    account.call("record_failure", failure | {"endpoint": "orders"})
    account.call("record_failure", failure)

    assert [(token, each["eventType"]) for token, each in taken] == [
        ("Bearer s3cret-value", "START"), ("Bearer s3cret-value", "FAIL"),
    ]  # fmt: skip
    message = taken[1][1]["run"]["facets"]["errorMessage"]["message"]
    assert message.startswith("LandingCorruptError: ")


@pytest.mark.parametrize(
    "answer", [Response(status=500), Response(status=307, headers={"Location": "/x"})]
)
def test_an_event_that_cannot_be_sent_is_counted_and_the_run_goes_on(
    account: Account,
    event: Events,
    httpserver: HTTPServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: Response,
) -> None:
    httpserver.expect_request("/api/v1/lineage").respond_with_response(answer)
    wanted(monkeypatch, httpserver.url_for("/api/v1/lineage"))

    result = account.call("start_run", event("start_run"))

    assert result == {"endpoints": ["orders"]}
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    [logged] = [line for line in lines if line.get("message") == "no lineage"]
    [counted] = [line for line in lines if "LineageEventsFailed" in line]
    assert logged["error"] == "HTTPError"
    assert counted["LineageEventsFailed"] == [1.0]
    assert len(httpserver.log) == 1


def test_without_the_switch_nothing_is_sent(account: Account, event: Events) -> None:
    account.call("start_run", event("start_run"))
    account.call("complete_run", of_run(event) | {"failure": None})

    assert not [name for name in account.names() if name.startswith("lineage/")]
