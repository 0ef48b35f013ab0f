import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.lambdas.conftest import MACHINE, Account

KEY = "inbox/shop/orders/new orders + more=1.ndjson"
Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def dropped(account: Account, event: Callable[[str], Any]) -> dict[str, Any]:
    """Return the event of a file in the inbox; its key is not URL-encoded."""
    etag = account.write(KEY, b'{"id": 1, "price": 1.50}')
    return changed(event("inbox_object_created"), lambda item: item.update(etag=etag.strip('"')))


def changed(event: dict[str, Any], change: Change) -> dict[str, Any]:
    found = copy.deepcopy(event)
    body = json.loads(found["Records"][0]["body"])
    change(body["detail"]["object"])
    found["Records"][0]["body"] = json.dumps(body)
    return found


def executions(account: Account) -> list[Any]:
    return [
        json.loads(account.sfn.describe_execution(executionArn=each["executionArn"])["input"])
        for each in account.sfn.list_executions(stateMachineArn=MACHINE)["executions"]
    ]


def test_a_dropped_file_lands_and_starts_load_source(
    account: Account, dropped: dict[str, Any]
) -> None:
    assert account.call("route_file", dropped) == {"batchItemFailures": []}

    assert executions(account) == [{"source": "shop", "extract": False, "origin": "file"}]
    landed = {re.sub(r"_\d{6}/", "/", name) for name in account.names()}
    prefix = "raw/shop/orders/20260101_120000/"
    assert {f"{prefix}original.ndjson", f"{prefix}.pending"} <= landed


def test_the_same_event_twice_starts_one_run(account: Account, dropped: dict[str, Any]) -> None:
    for _ in range(2):
        assert account.call("route_file", dropped) == {"batchItemFailures": []}

    assert len(executions(account)) == 1
    assert len([key for key in account.names() if key.startswith("index/pending/")]) == 1


def test_the_run_of_a_dropped_file_claims_it_and_extracts_nothing(
    account: Account, dropped: dict[str, Any]
) -> None:
    account.call("route_file", dropped)
    (request,) = executions(account)

    event = {"run_id": "r", "started_at": "2026-01-01T12:00:05Z", "source": "shop",
             "request": request}  # fmt: skip
    assert account.call("start_run", event) == {"endpoints": []}
    assert account.call("claim_landings", {"run_id": "r", "source": "shop"})["shares"] == [0]


@pytest.mark.parametrize(
    "key",
    ["inbox/shop/nothing/a.ndjson", "inbox/nobody/orders/a.ndjson", "inbox/shop/orders/a.exe"],
)
def test_a_file_that_no_one_expects_goes_back_and_the_others_go_on(
    account: Account, dropped: dict[str, Any], key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = changed(dropped, lambda item: item.update(key=key))
    bad["Records"][0]["messageId"] = "bad"

    result = account.call("route_file", {"Records": bad["Records"] + dropped["Records"]})

    assert result == {"batchItemFailures": [{"itemIdentifier": "bad"}]}
    assert len(executions(account)) == 1
    assert key in capsys.readouterr().out


def test_a_message_that_is_no_event_goes_back(account: Account, dropped: dict[str, Any]) -> None:
    dropped["Records"][0]["body"] = '{"Hello": "World"}'

    assert len(account.call("route_file", dropped)["batchItemFailures"]) == 1


def test_a_folder_that_the_console_makes_is_passed_by(
    account: Account, dropped: dict[str, Any]
) -> None:
    event = changed(dropped, lambda item: item.update(key="inbox/shop/orders/"))

    assert account.call("route_file", event) == {"batchItemFailures": []}
    assert executions(account) == []
