"""Announcements of a load, against recorded answers of EventBridge."""

import json
from typing import Any

import pytest

from lakekit.aws.announcements import Announcer
from lakekit.errors import StorageUnavailableError
from lakekit.runs.complete_run import TableLoaded
from tests.unit.aws.conftest import Stubs

Json = dict[str, Any]
LOADED = TableLoaded(
    table="orders", run_id="r", source="shop", snapshot_id=2, opened=3, closed=1, unchanged=0,
    quarantined=4, rows=8, bytes=100, seconds=6, share=0.25, data_files=2, delete_files=1,
    snapshots=5, dpu_seconds=120, cost_usd=0.015,
)  # fmt: skip
VALUES = {
    "VersionsOpened": 3, "VersionsClosed": 1, "RecordsRead": 8, "RecordsUnchanged": 0,
    "RecordsQuarantined": 4, "QuarantineRatio": 0.5, "BytesRead": 100, "MergeSeconds": 6,
    "DataFiles": 2, "DeleteFiles": 1, "Snapshots": 5, "DpuSeconds": 120, "CostUsd": 0.015,
}  # fmt: skip


def announcer(stubs: Stubs, *, per_table: bool = False) -> Announcer:
    return Announcer("db", stubs["events"], per_table=per_table)


def taken(stubs: Stubs) -> None:
    detail = {"database": "db", **LOADED.model_dump(mode="json")}
    entry = {"Source": "lakekit", "DetailType": "TableLoaded", "Detail": json.dumps(detail),
             "Resources": ["db.orders"]}  # fmt: skip
    stubs.answer("events", "put_events", {"FailedEntryCount": 0, "Entries": []}, Entries=[entry])


def metrics(line: Json) -> tuple[list[list[str]], dict[str, float]]:
    """Return the dimensions of a line in the embedded format, and its values."""
    [about] = line["_aws"]["CloudWatchMetrics"]
    assert about["Namespace"] == "Lakekit"
    names = [each["Name"] for each in about["Metrics"]]
    return about["Dimensions"], {name: line[name][0] for name in names}


def test_announces_a_load_in_an_event_and_in_metrics(
    stubs: Stubs, capsys: pytest.CaptureFixture[str]
) -> None:
    taken(stubs)

    announcer(stubs)(LOADED)

    [line] = map(json.loads, capsys.readouterr().out.splitlines())
    assert metrics(line) == ([["database", "service"]], VALUES)
    assert (line["table"], line["source"], line["run_id"]) == ("orders", "shop", "r")


def test_a_table_has_metrics_of_its_own_where_the_environment_says_so(
    stubs: Stubs, capsys: pytest.CaptureFixture[str]
) -> None:
    taken(stubs)

    announcer(stubs, per_table=True)(LOADED)

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [metrics(line)[0] for line in lines] == [
        [["database", "service"]], [["database", "table", "service"]]
    ]  # fmt: skip
    assert metrics(lines[1])[1] == VALUES


def test_an_event_that_the_bus_did_not_take_is_sent_again(stubs: Stubs) -> None:
    entries = [{"ErrorCode": "InternalFailure"}]
    stubs.answer("events", "put_events", {"FailedEntryCount": 1, "Entries": entries})

    with pytest.raises(StorageUnavailableError, match="InternalFailure"):
        announcer(stubs)(LOADED)
