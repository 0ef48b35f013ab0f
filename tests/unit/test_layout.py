from datetime import UTC, datetime, timedelta, timezone

import pytest

from lakekit import layout


def test_names_a_landing_by_its_extraction_time_in_utc() -> None:
    time = datetime(2024, 8, 6, 1, tzinfo=timezone(timedelta(hours=2)))

    assert layout.raw_prefix("s", "e", time) == "raw/s/e/20240805_230000/"


def test_refuses_a_time_without_zone() -> None:
    with pytest.raises(ValueError, match="time zone"):
        layout.raw_prefix("s", "e", datetime(2024, 8, 6, tzinfo=UTC).replace(tzinfo=None))


def test_gives_every_key_its_own_place() -> None:
    prefix = layout.raw_prefix("s", "e", datetime(2024, 8, 6, tzinfo=UTC))
    keys = [
        layout.part_key(prefix, 0), layout.manifest_key(prefix), layout.pending_key(prefix),
        layout.complete_key(prefix), layout.progress_key(prefix, "r"), layout.run_key("r"),
        layout.plan_key("r"), layout.result_key("r", "merge", "t"), layout.failure_key("r"),
        layout.lease_key("t"), layout.inbox_prefix("s", "e"),
    ]  # fmt: skip

    assert keys[0] == "raw/s/e/20240806_000000/part-00000.ndjson.gz"
    assert keys[5] == "runs/r/run.json"
    assert len(set(keys)) == len(keys)
    assert layout.quarantine_table("t") == "t_quarantine"


@pytest.mark.parametrize("run_id", ["", "..", "a/b", "../x"])
def test_refuses_a_run_id_that_would_leave_its_folder(run_id: str) -> None:
    with pytest.raises(ValueError, match="part of a key"):
        layout.run_key(run_id)
