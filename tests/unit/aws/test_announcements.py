"""Announcements of a load, against recorded answers of EventBridge."""

import json

import pytest

from lakekit.aws.announcements import Announcer
from lakekit.errors import StorageUnavailableError
from lakekit.runs.complete_run import TableLoaded
from tests.unit.aws.conftest import Stubs

LOADED = TableLoaded(
    table="orders", run_id="r", source="shop", snapshot_id=2, opened=3, closed=1, unchanged=0,
    quarantined=4,
)  # fmt: skip


def test_announces_a_load_in_an_event_and_in_metrics(
    stubs: Stubs, capsys: pytest.CaptureFixture[str]
) -> None:
    detail = {"database": "db", **LOADED.model_dump(mode="json")}
    entry = {"Source": "lakekit", "DetailType": "TableLoaded", "Detail": json.dumps(detail),
             "Resources": ["db.orders"]}  # fmt: skip
    stubs.answer("events", "put_events", {"FailedEntryCount": 0, "Entries": []}, Entries=[entry])

    Announcer("db", stubs["events"])(LOADED)

    metrics = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {m["table"] for m in metrics} == {"orders"}
    found = {name: value for m in metrics for name, value in m.items() if name[:1].isupper()}
    assert found == {
        "VersionsOpened": [3.0], "VersionsClosed": [1.0], "RecordsUnchanged": [0.0],
        "RecordsQuarantined": [4.0],
    }  # fmt: skip


def test_an_event_that_the_bus_did_not_take_is_sent_again(stubs: Stubs) -> None:
    entries = [{"ErrorCode": "InternalFailure"}]
    stubs.answer("events", "put_events", {"FailedEntryCount": 1, "Entries": entries})

    with pytest.raises(StorageUnavailableError, match="InternalFailure"):
        Announcer("db", stubs["events"])(LOADED)
