"""Fields within columns that come, go or move open no version, and lose nothing of what it held."""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.late import TEXT, at, told
from tests.spark.people import CONTRACT


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


@pytest.mark.parametrize("around", ["{}", "array<{}>", "map<string,{}>"])
@pytest.mark.parametrize(
    "fields",
    [
        ("street:string", "street:string,town:string"),
        ("street:string,zip:string", "street:string,town:string,zip:string"),
        ("street:string,zip:string", "zip:string,street:string"),
        ("street:string,zip:string", "street:string"),
    ],
)
def test_fields_that_come_go_or_move_within_a_column_open_nothing(
    load, rows, spark, table, around, fields
):
    before, after = (
        load_contract(CONTRACT.replace("city, type: string", f'city, type: "{kind}"'))
        for kind in (around.format(f"struct<{each}>") for each in fields)
    )

    def told(key, **place):
        held = {"{}": place, "array<{}>": [place]}.get(around, {"home": place})
        return {"id": key, "name": "n", "city": held}

    load(1, told(1, street="x"), told(2, street="y"), promise=before)
    create_or_evolve(spark, after, table)

    same = load(2, told(1, street="x"), told(2, street="y"), promise=after)
    changed = load(3, told(1, street="x"), told(2, street="z"), promise=after)

    assert (same.opened, same.closed, same.committed) == (0, 0, False)
    assert (changed.opened, changed.closed) == (1, 1)
    assert rows("id") == [(1, 1, None, True), (2, 1, 3, False), (2, 3, None, True)]
    assert not create_or_evolve(spark, after, table).changes


@pytest.mark.usefixtures("both_ways_of_writing")
@pytest.mark.parametrize("late", [False, True])
def test_a_version_that_is_renewed_keeps_what_it_held_in_a_dropped_field(
    load, rows, spark, table, late
):
    where = "struct<town:string,at:struct<lat:int,lon:int>,zip:string>"
    text = TEXT.replace("city, type: string", f'city, type: "{where}"')
    fewer = load_contract(text.replace(",lon:int", "").replace("<town:string,", "<"))
    city = {"town": "x", "at": {"lat": 1, "lon": 2}, "zip": "z"}
    told(load, "changes", 5, at(5, "a", seen=1, city=city), promise=load_contract(text))
    create_or_evolve(spark, fewer, table)

    city = {"at": {"lat": 1}, "zip": "z"}
    more = [at(4, "b", city=city)] if late else []
    told(load, "changes", 7, at(7, "a", seen=2, city=city), *more, promise=fewer)
    assert rows("id, name, to_json(city), seen")[-1] == (
        1, "a", '{"town":"x","at":{"lat":1,"lon":2},"zip":"z"}', 2, 5, None, True,
    )  # fmt: skip

    told(load, "changes", 8, at(8, "b", seen=3, city=city), promise=fewer)
    assert rows("name, to_json(city)")[-1] == ("b", '{"at":{"lat":1},"zip":"z"}', 8, None, True)


def test_a_column_that_held_nothing_in_a_dropped_field_tells_no_versions_apart(
    load, rows, spark, table
):
    where = "struct<town:struct<name:string>,zip:string>"
    text = TEXT.replace("city, type: string", f'city, type: "{where}"')
    fewer = load_contract(text.replace("town:struct<name:string>,", ""))
    city, promise = {"zip": "z"}, load_contract(text)
    many = at(5, "a"), at(7, "b", city=city), at(9, "a", city=city)
    told(load, "changes", 10, *many, promise=promise)
    create_or_evolve(spark, fewer, table)

    told(load, "changes", 11, at(7, "a", city=city), promise=fewer)

    assert rows("id, name") == [(1, "a", 5, None, True)]


def test_the_companion_lives_on_when_a_field_is_taken_out_of_a_column(load, rows, spark, table):
    text = CONTRACT.replace(
        "city, type: string}",
        'city, type: "struct<a:string,b:string>"}\n  - {name: at, type: date}',
    ).replace("keys: [id]", "keys: [id], sequence_by: at")
    before, after = load_contract(text), load_contract(text.replace(",b:string", ""))

    def told(day, name, **city):
        return {"id": 1, "name": name, "at": f"2026-01-{day:02}", "city": city}

    load(10, told(1, "a", a="x", b="y"), extract="changes", promise=before)
    create_or_evolve(spark, after, table)
    load(11, told(5, "a", a="x"), extract="changes", promise=after)
    load(12, told(3, "b", a="x"), extract="changes", promise=after)

    assert rows("id, name") == [
        (1, "a", 1, 3, False),
        (1, "b", 3, 5, False),
        (1, "a", 5, None, True),
    ]
