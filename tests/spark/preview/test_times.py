"""The times in a preview are UTC in every time zone, and all of them can be shown."""

from datetime import datetime

import pytest

from tests.spark.support.people import people
from tests.tiers import long

# Zones of the process and of the session, on both sides of UTC.
ZONES = [
    long(("UTC", "UTC")),
    ("Asia/Kolkata", "America/New_York"),
    ("America/New_York", "Asia/Kolkata"),
]
# Times at every depth.
TIMES = {
    "city": None,
    "born": "timestamp",
    "seen": "struct<at:timestamp,all:array<timestamp>,by:map<string,timestamp>>",
}
FIRST, LAST = datetime.min, datetime.max


def seen(one, other):
    return {"at": one, "all": [one, other, None], "by": {"one": one, "other": other}}


def born(number, name, one, other):
    """A record with these times as texts; born at the first of them."""
    texts = [time.isoformat() + "Z" for time in (one, other)]
    return {"id": number, "name": name, "born": texts[0], "seen": seen(*texts)}


@pytest.mark.parametrize("zones", ZONES)
def test_a_preview_shows_all_times_in_utc_from_the_first_to_the_last(load, plan, zoned, zones):
    zoned(*zones)
    contract = people(columns=TIMES, keys=["id", "born"])
    load(1, born(1, "a", FIRST, LAST), born(2, "b", LAST, FIRST), contract=contract)

    samples = plan(2, born(1, "a", FIRST, FIRST), contract=contract).samples

    one, two = ({"id": 1, "born": FIRST}, {"id": 2, "born": LAST})
    change = {"seen": {"old": seen(FIRST, LAST), "new": seen(FIRST, FIRST)}}
    day, next_day = datetime(2026, 1, 1), datetime(2026, 1, 2)
    assert samples == {
        "opened": [{"key": one, "from": next_day, "to": None, "changes": change}],
        "closed": [{"key": key, "from": day, "to": next_day} for key in (one, two)],
        "deleted": [{"key": two, "at": next_day}],
    }


@pytest.mark.long
@pytest.mark.parametrize("zones", ZONES)
def test_a_preview_of_events_shows_all_times_in_utc(plan, zoned, zones):
    zoned(*zones)
    contract = people(columns=TIMES, mode="append")

    samples = plan(1, born(1, "a", FIRST, LAST), contract=contract).samples

    row = {"id": 1, "name": "a", "born": FIRST, "seen": seen(FIRST, LAST)}
    assert samples == {"opened": [{"row": row}]}


@pytest.mark.long
@pytest.mark.parametrize("zones", ZONES)
def test_a_preview_of_the_first_time_of_all(plan, zoned, zones):
    zoned(*zones)
    contract = people(columns=TIMES, sequence_by="born")

    samples = plan(1, born(1, "a", FIRST, LAST), contract=contract, extract="changes").samples

    (row,) = samples["opened"]
    assert (row["from"], row["changes"]["born"]) == (FIRST, {"new": FIRST})


def test_two_times_that_a_clock_shows_alike_are_a_change(load, plan, zoned):
    """In Berlin the hour from 2 to 3 comes twice in that night."""
    zoned("Europe/Berlin", "Europe/Berlin")
    contract = people(columns=TIMES)
    times = [datetime(2025, 10, 26, hour, 30) for hour in (0, 1)]
    load(1, born(1, "a", *times), contract=contract)

    (row,) = plan(2, born(1, "a", *reversed(times)), contract=contract).samples["opened"]

    assert row["changes"]["born"] == dict(zip(("old", "new"), times, strict=True))
