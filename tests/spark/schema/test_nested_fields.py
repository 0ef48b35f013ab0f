"""Fields within columns that come, go or move open no version, and no value is lost."""

import pytest

from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.late import at, cdc, load_as
from tests.spark.support.people import people
from tests.tiers import long


@pytest.mark.parametrize(
    ("first", "then"),
    [
        long("street:string,town:string", "town:string,street:string"),
        ("street:string,tags:array<string>", "street:string,town:string,tags:array<string>"),
    ],
)
@pytest.mark.parametrize("late", [long(False), True])
def test_fields_within_a_column_are_known_by_their_names(load, spark, table, first, then, late):
    name, sequence = ("timestamp", "name") if late else ("string", None)
    before, after = (
        people(
            columns={"name": name, "city": f"map<string,struct<{fields}>>"}, sequence_by=sequence
        )
        for fields in (first, then)
    )
    days = ["2026-01-03", "2026-01-05", "2026-01-04"] if late else ["a", "b", "c"]
    records = [
        {"id": 1, "name": day, "city": {"a": {"street": f"S{day}", "town": f"T{day}"}}}
        for day in days
    ]
    load(1, records[0], extract="incremental", contract=before)
    create_or_evolve(spark, after, table)
    load(2, records[1], extract="incremental", contract=after)
    load(3, records[2], extract="incremental", contract=after)

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
        for n, each in enumerate(sorted(records, key=lambda each: each["name"]))
    ]
    assert [tuple(row) for row in found] == expected


@pytest.mark.parametrize("around", [long("{}"), long("array<{}>"), "map<string,{}>"])
@pytest.mark.parametrize(
    "fields",
    [
        ("street:string", "street:string,town:string"),
        long(("street:string,zip:string", "street:string,town:string,zip:string")),
        long(("street:string,zip:string", "zip:string,street:string")),
        ("street:string,zip:string", "street:string"),
    ],
)
def test_fields_that_come_go_or_move_within_a_column_open_nothing(
    load, assert_rows, spark, table, around, fields
):
    before, after = (people(columns={"city": around.format(f"struct<{each}>")}) for each in fields)

    def record(key, **place):
        held = {"{}": place, "array<{}>": [place]}.get(around, {"home": place})
        return {"id": key, "name": "n", "city": held}

    load(1, record(1, street="x"), record(2, street="y"), contract=before)
    create_or_evolve(spark, after, table)

    same = load(2, record(1, street="x"), record(2, street="y"), contract=after)
    changed = load(3, record(1, street="x"), record(2, street="z"), contract=after)

    assert (same.opened, same.closed, same.committed) == (0, 0, False)
    assert (changed.opened, changed.closed) == (1, 1)
    assert_rows((1, 1, None, True), (2, 1, 3, False), (2, 3, None, True), columns="id")
    assert not create_or_evolve(spark, after, table).changes


@pytest.mark.long
@pytest.mark.usefixtures("both_ways_of_writing")
def test_a_version_that_is_renewed_keeps_what_it_held_in_a_dropped_field(load, rows, spark, table):
    before, fewer = (
        cdc(columns={"city": place})
        for place in (
            "struct<town:string,at:struct<lat:int,lon:int>,zip:string>",
            "struct<at:struct<lat:int>,zip:string>",
        )
    )
    city = {"town": "x", "at": {"lat": 1, "lon": 2}, "zip": "z"}
    load_as(load, "changes", 5, at(5, "a", seen=1, city=city), contract=before)
    create_or_evolve(spark, fewer, table)

    city = {"at": {"lat": 1}, "zip": "z"}
    load_as(load, "changes", 7, at(7, "a", seen=2, city=city), contract=fewer)
    assert rows("id, name, to_json(city), seen")[-1] == (
        1, "a", '{"town":"x","at":{"lat":1,"lon":2},"zip":"z"}', 2, 5, None, True,
    )  # fmt: skip

    load_as(load, "changes", 8, at(8, "b", seen=3, city=city), contract=fewer)
    assert rows("name, to_json(city)")[-1] == ("b", '{"at":{"lat":1},"zip":"z"}', 8, None, True)


@pytest.mark.long
def test_a_column_that_held_nothing_in_a_dropped_field_separates_no_versions(
    load, assert_rows, spark, table
):
    contract, fewer = (
        cdc(columns={"city": place})
        for place in ("struct<town:struct<name:string>,zip:string>", "struct<zip:string>")
    )
    city = {"zip": "z"}
    many = at(5, "a"), at(7, "b", city=city), at(9, "a", city=city)
    load_as(load, "changes", 10, *many, contract=contract)
    create_or_evolve(spark, fewer, table)

    load_as(load, "changes", 11, at(7, "a", city=city), contract=fewer)

    assert_rows((1, "a", 5, None, True), columns="id, name")


@pytest.mark.long
def test_the_journal_lives_on_when_a_field_is_taken_out_of_a_column(
    load, assert_rows, spark, table
):
    before, after = (
        people(columns={"city": place, "at": "date"}, sequence_by="at")
        for place in ("struct<a:string,b:string>", "struct<a:string>")
    )

    def record(day, name, **city):
        return {"id": 1, "name": name, "at": f"2026-01-{day:02}", "city": city}

    load(10, record(1, "a", a="x", b="y"), extract="changes", contract=before)
    create_or_evolve(spark, after, table)
    load(11, record(5, "a", a="x"), extract="changes", contract=after)
    load(12, record(3, "b", a="x"), extract="changes", contract=after)

    assert_rows(
        (1, "a", 1, 3, False),
        (1, "b", 3, 5, False),
        (1, "a", 5, None, True),
        columns="id, name",
    )
