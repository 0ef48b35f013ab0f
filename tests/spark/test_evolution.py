"""A contract that changes between two loads: history stays readable, nothing opens in masses."""

import pytest

from lakekit.contracts import load_contract
from lakekit.spark import writing
from lakekit.spark.tables import create_or_evolve
from tests.spark.conftest import CONTRACT

MORE = load_contract(CONTRACT.replace("history:", "  - {name: zip, type: string}\nhistory:"))
REVERSION = load_contract(
    CONTRACT.replace(
        "history: {", "  - {name: zip, type: string}\nhistory: {new_column: reversion, "
    )
)
RENAMED = load_contract(
    CONTRACT.replace("name: city,", "name: town, renamed_from: city,").replace(
        "id, type: int", "id, type: bigint"
    )
)
FEWER = load_contract(CONTRACT.replace("  - {name: city, type: string}\n", ""))
A, B = {"id": 1, "name": "a", "city": "x"}, {"id": 2, "name": "b", "city": "y"}
TOWN_A, TOWN_B = {"id": 1, "name": "a", "town": "x"}, {"id": 2, "name": "b", "town": "y"}


@pytest.fixture(autouse=True, params=[-1, 1 << 20], ids=["delta", "overwrite"])
def both_ways_of_writing(request, monkeypatch):
    monkeypatch.setattr(writing, "FEW_BYTES", request.param)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("street:string,town:string", "town:string,street:string"),
        ("street:string,tags:array<string>", "street:string,town:string,tags:array<string>"),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_fields_within_a_column_are_known_by_their_names(load, spark, table, first, then, late):
    timed = "name, type: timestamp" if late else "name, type: string"
    text = CONTRACT.replace("name, type: string", timed)
    text = text.replace("keys: [id]", "keys: [id], sequence_by: name") if late else text
    before, after = (
        load_contract(
            text.replace("city, type: string", f'city, type: "map<string,struct<{fields}>>"')
        )
        for fields in (first, then)
    )
    days = ["2026-01-03", "2026-01-05", "2026-01-04"] if late else ["a", "b", "c"]
    told = [
        {"id": 1, "name": day, "city": {"a": {"street": f"S{day}", "town": f"T{day}"}}}
        for day in days
    ]
    load(1, told[0], extract="incremental", promise=before)
    create_or_evolve(spark, after, table)
    load(2, told[1], extract="incremental", promise=after)
    load(3, told[2], extract="incremental", promise=after)

    found = (
        spark.table(table)
        .orderBy("_valid_from")
        .select("city.a.*")
        .select("street", "town")
        .collect()
    )
    known = ("street", "town") if "town" in first else ("street",)
    expected = [
        tuple(
            each["city"]["a"][name] if n or name in known else None for name in ("street", "town")
        )
        for n, each in enumerate(sorted(told, key=lambda each: each["name"]))
    ]
    assert [tuple(row) for row in found] == expected


def test_a_new_column_is_filled_into_the_current_versions_and_opens_none(load, rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, MORE, table)

    filled = load(2, A | {"zip": "1"}, B, promise=MORE)
    changed = load(3, A | {"zip": "2"}, B | {"zip": "3"}, promise=MORE)

    assert (filled.opened, filled.closed) == (0, 0)
    assert (changed.opened, changed.closed) == (2, 2)
    assert rows("id, zip") == [
        (1, "1", 1, 3, False),
        (1, "2", 3, None, True),
        (2, None, 1, 3, False),
        (2, "3", 3, None, True),
    ]


def test_a_new_column_opens_versions_if_the_contract_wants_it(load, rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, REVERSION, table)

    load(2, A | {"zip": "1"}, B, promise=REVERSION)

    assert rows("id, zip") == [
        (1, None, 1, 2, False),
        (1, "1", 2, None, True),
        (2, None, 1, None, True),
    ]


def test_a_renamed_and_a_widened_column_open_nothing(load, rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, RENAMED, table)

    same = load(2, TOWN_A, TOWN_B, promise=RENAMED)
    load(3, TOWN_A | {"town": "z"}, TOWN_B, promise=RENAMED)

    assert not same.committed
    assert rows("id, town") == [
        (1, "x", 1, 3, False),
        (1, "z", 3, None, True),
        (2, "y", 1, None, True),
    ]


def test_a_dropped_column_stays_and_is_null_from_now_on(load, rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, FEWER, table)

    same = load(2, {"id": 1, "name": "a"}, {"id": 2, "name": "b"}, promise=FEWER)
    load(3, {"id": 1, "name": "c"}, {"id": 2, "name": "b"}, promise=FEWER)

    assert not same.committed
    assert rows("id, name, city") == [
        (1, "a", "x", 1, 3, False),
        (1, "c", None, 3, None, True),
        (2, "b", "y", 1, None, True),
    ]
