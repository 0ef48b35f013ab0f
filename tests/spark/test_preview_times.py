"""The moments in a preview are UTC whatever the zones, and all of them can be shown."""

from datetime import datetime

import pytest

from lakekit.contract.contract import load_contract
from tests.spark.people import CONTRACT
from tests.tiers import long

# Of the process and of the session: neither in UTC, and on both sides of it.
ZONES = [
    long(("UTC", "UTC")),
    ("Asia/Kolkata", "America/New_York"),
    ("America/New_York", "Asia/Kolkata"),
]
# Moments at every depth.
TIMES = CONTRACT.replace(
    "city, type: string",
    "seen, type: 'struct<at:timestamp,all:array<timestamp>,by:map<string,timestamp>>'",
).replace("schema:", "schema:\n  - {name: born, type: timestamp}")
FIRST, LAST = datetime.min, datetime.max


def seen(one, other):
    return {"at": one, "all": [one, other, None], "by": {"one": one, "other": other}}


def born(number, name, one, other):
    """A record by the texts of its moments; born with the first of them."""
    texts = [moment.isoformat() + "Z" for moment in (one, other)]
    return {"id": number, "name": name, "born": texts[0], "seen": seen(*texts)}


@pytest.mark.parametrize("zones", ZONES)
def test_a_preview_shows_all_moments_in_utc_from_the_first_to_the_last(load, plan, zoned, zones):
    zoned(*zones)
    promise = load_contract(TIMES.replace("keys: [id]", "keys: [id, born]"))
    load(1, born(1, "a", FIRST, LAST), born(2, "b", LAST, FIRST), promise=promise)

    told = plan(2, born(1, "a", FIRST, FIRST), promise=promise).samples

    one, two = ({"id": 1, "born": FIRST}, {"id": 2, "born": LAST})
    change = {"seen": {"old": seen(FIRST, LAST), "new": seen(FIRST, FIRST)}}
    day, next_day = datetime(2026, 1, 1), datetime(2026, 1, 2)
    assert told == {
        "opened": [{"key": one, "from": next_day, "to": None, "changes": change}],
        "closed": [{"key": key, "from": day, "to": next_day} for key in (one, two)],
        "deleted": [{"key": two, "at": next_day}],
    }


@pytest.mark.parametrize("zones", ZONES)
def test_a_preview_of_events_shows_all_moments_in_utc(plan, zoned, zones):
    zoned(*zones)
    promise = load_contract(TIMES.replace("keys: [id]", "mode: append, keys: [id]"))

    told = plan(1, born(1, "a", FIRST, LAST), promise=promise).samples

    row = {"id": 1, "name": "a", "born": FIRST, "seen": seen(FIRST, LAST)}
    assert told == {"opened": [{"row": row}]}


@pytest.mark.parametrize("zones", ZONES)
def test_a_preview_of_the_first_moment_of_all(plan, zoned, zones):
    zoned(*zones)
    promise = load_contract(TIMES.replace("keys: [id]", "keys: [id], sequence_by: born"))

    told = plan(1, born(1, "a", FIRST, LAST), promise=promise, extract="changes").samples

    (row,) = told["opened"]
    assert (row["from"], row["changes"]["born"]) == (FIRST, {"new": FIRST})


def test_two_moments_that_a_clock_shows_alike_are_a_change(load, plan, zoned):
    """In Berlin the hour from 2 to 3 comes twice on that night."""
    zoned("Europe/Berlin", "Europe/Berlin")
    promise = load_contract(TIMES)
    moments = [datetime(2025, 10, 26, hour, 30) for hour in (0, 1)]
    load(1, born(1, "a", *moments), promise=promise)

    (row,) = plan(2, born(1, "a", *reversed(moments)), promise=promise).samples["opened"]

    assert row["changes"]["born"] == dict(zip(("old", "new"), moments, strict=True))
