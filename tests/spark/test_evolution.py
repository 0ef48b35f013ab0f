"""A contract that changes between two loads: history stays readable, nothing opens in masses."""

import pytest

from lakekit.contracts import load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.spark import scd2, small
from lakekit.spark.tables import create_or_evolve
from lakekit.sql.tables import LATER_COLUMNS
from tests.spark.conftest import CONTRACT
from tests.spark.test_semantics_late import TEXT, at, gone, told

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


@pytest.fixture(params=[-1, 1 << 20], ids=["delta", "overwrite"])
def both_ways_of_writing(request, monkeypatch):
    monkeypatch.setattr(small, "FEW_BYTES", request.param)


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


def test_a_table_whose_columns_are_called_like_secrets_is_evolved_once(load, spark, table):
    secret = load_contract(CONTRACT.replace("name: city", "name: token_url"))
    load(1, A, promise=secret)

    assert not create_or_evolve(spark, secret, table).changes


@pytest.mark.usefixtures("both_ways_of_writing")
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


def test_only_versions_from_before_a_new_column_are_filled(load, rows, spark, table):
    load(1, A, extract="incremental")
    create_or_evolve(spark, MORE, table)
    load(2, B, extract="incremental", promise=MORE)

    told = (A | {"zip": "1"}, B | {"zip": "2"})
    done = load(3, *told, extract="incremental", promise=MORE)

    assert (done.opened, done.closed) == (1, 1)
    assert rows("id, zip") == [
        (1, "1", 1, None, True),
        (2, None, 2, 3, False),
        (2, "2", 3, None, True),
    ]


def test_a_crash_before_a_new_column_is_added_opens_nothing(load, rows, spark, table):
    load(1, A, B)
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{LATER_COLUMNS}' = 'zip')")

    before = load(2, A, B)
    create_or_evolve(spark, MORE, table)
    filled = load(3, A | {"zip": "1"}, B, promise=MORE)

    assert not before.committed
    assert (filled.opened, filled.closed) == (0, 0)
    assert rows("id, zip") == [(1, "1", 1, None, True), (2, None, 1, None, True)]


def test_a_new_column_opens_versions_if_the_contract_wants_it(load, rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, REVERSION, table)

    load(2, A | {"zip": "1"}, B, promise=REVERSION)

    assert rows("id, zip") == [
        (1, None, 1, 2, False),
        (1, "1", 2, None, True),
        (2, None, 1, None, True),
    ]


@pytest.mark.usefixtures("both_ways_of_writing")
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


@pytest.mark.usefixtures("both_ways_of_writing")
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


@pytest.mark.usefixtures("both_ways_of_writing")
@pytest.mark.parametrize("late", [False, True])
def test_a_version_that_is_renewed_keeps_what_it_held_in_a_dropped_column(
    load, rows, spark, table, late
):
    fewer = load_contract(TEXT.replace("  - {name: city, type: string}\n", ""))
    told(load, "changes", 5, at(5, "a", seen=1, city="x"))
    create_or_evolve(spark, fewer, table)

    told(load, "changes", 7, at(7, "a", seen=2), *([at(4, "b")] if late else []), promise=fewer)

    assert rows("id, name, city, seen")[-1] == (1, "a", "x", 2, 5, None, True)


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


@pytest.mark.parametrize("name", ["to", "hash", "rest", "gone", "from", "change"])
def test_a_dropped_column_may_be_called_what_a_late_change_calls_its_own(
    load, rows, spark, table, name
):
    text = TEXT.replace("city, type", f"{name}, type")
    fewer = load_contract(text.replace(f"  - {{name: {name}, type: string}}\n", ""))
    told(load, "changes", 5, at(5, "a", **{name: "x"}), promise=load_contract(text))
    create_or_evolve(spark, fewer, table)

    told(load, "changes", 7, at(4, "b"), at(6, "c"), promise=fewer)

    assert rows(f"id, name, `{name}`") == [
        (1, "b", None, 4, 5, False),
        (1, "a", "x", 5, 6, False),
        (1, "c", None, 6, None, True),
    ]


def test_a_partial_record_fills_a_new_column_and_opens_nothing(load, rows, spark, table):
    text = TEXT.replace("keys: [id]", "keys: [id], ignore_null_updates: true")
    text, before = text.replace("[name]", "[name, zip]"), load_contract(text)
    after = load_contract(
        text.replace("  - {name: op,", "  - {name: zip, type: string}\n  - {name: op,")
    )
    told(load, "changes", 5, at(5, "a", seen=1), promise=before)
    create_or_evolve(spark, after, table)

    told(load, "changes", 7, at(7, None, zip="z"), promise=after)

    assert rows("id, name, zip, seen") == [(1, "a", "z", 1, 5, None, True)]


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


@pytest.mark.usefixtures("both_ways_of_writing")
@pytest.mark.parametrize("nested", [False, True])
def test_a_table_behind_its_contract_is_refused_and_not_written_in_part(load, spark, table, nested):
    first, promise, city, lacks = FEWER, load_contract(CONTRACT), "x", "city"
    if nested:
        kinds = ("map<string,struct<a:int>>", "map<string,struct<a:int,b:int>>")
        first, promise = (
            load_contract(CONTRACT.replace("city, type: string", f'city, type: "{kind}"'))
            for kind in kinds
        )
        city, lacks = {"k": {"b": 1}}, "city.value.b"
    load(1, {"id": 1, "name": "a"}, promise=first)

    with pytest.raises(SchemaMismatchError, match=f"lacks {lacks}"):
        load(2, {"id": 1, "name": "b", "city": city}, promise=promise)

    assert [row["name"] for row in spark.table(table).collect()] == ["a"]


@pytest.mark.parametrize("options", ["", ", mode: scd1", ", delete_scope: [city]"])
@pytest.mark.parametrize("late", ["exact", "quarantine", "ignore"])
def test_a_table_whose_times_are_those_of_extracts_gets_no_others(
    load, spark, table, rows, options, late
):
    """What ended when an extract lacked it may have changed before, as its own time tells."""
    text = CONTRACT.replace(
        "city, type: string}", "city, type: string}\n  - {name: at, type: date}"
    )
    before = text.replace("keys: [id]", f"keys: [id]{options}")
    after = text.replace(
        "keys: [id]", f"keys: [id]{options}, sequence_by: at, late_changes: {late}"
    )
    load(2, {**A, "at": "2026-01-01"}, {**B, "at": "2026-01-01"}, promise=load_contract(before))
    load(6, {**A, "at": "2026-01-01"}, promise=load_contract(before))
    seen = rows()

    with pytest.raises(SchemaMismatchError, match="its sequence_by none cannot become at"):
        create_or_evolve(spark, load_contract(after), table)
    # So would its next merge have done: open, on the fourth day, what had ended on the sixth.
    assert rows() == seen


@pytest.mark.parametrize(
    ("history", "fault"),
    [
        ("keys: [id], mode: scd1", "its mode scd2 cannot become scd1"),
        ("keys: [id, name]", "its keys id cannot become id, name"),
        ("keys: [id], deletes: mark", "deletes: close cannot become mark"),
    ],
)
def test_a_run_by_a_contract_that_its_table_never_took_is_refused(load, rows, history, fault):
    """It may have been planned before, and come again."""
    load(1, A, B)
    seen = rows()

    with pytest.raises(SchemaMismatchError, match=fault):
        load(2, A, promise=load_contract(CONTRACT.replace("keys: [id]", history)))

    assert rows() == seen


REUSED = load_contract(
    CONTRACT.replace(
        "name: city, type: string}",
        "name: town, type: string, renamed_from: city}\n  - {name: city, type: string}",
    )
)


def test_a_name_may_be_used_again_in_the_step_that_frees_it(load, rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, REUSED, table)

    same = load(2, TOWN_A, TOWN_B, promise=REUSED)
    moved = load(3, {"id": 1, "name": "a", "city": "x"}, promise=REUSED, extract="incremental")

    assert (same.opened, same.closed, moved.opened) == (0, 0, 1)
    assert rows("id, town, city") == [
        (1, "x", None, 1, 3, False),
        (1, None, "x", 3, None, True),
        (2, "y", None, 1, None, True),
    ]


def test_a_column_may_take_the_name_that_another_leaves(load, rows, spark, table):
    moved = CONTRACT.replace("name: city,", "name: name, renamed_from: city,")
    chain = load_contract(
        moved.replace("{name: name, type", "{name: nick, renamed_from: name, type")
    )
    load(1, A, B)
    load(2, A | {"name": "c"}, B)
    create_or_evolve(spark, chain, table)

    done = load(3, {"id": 1, "nick": "c", "name": "x"}, promise=chain, extract="incremental")

    assert done.opened == 0
    assert rows("id, nick, name") == [
        (1, "a", "x", 1, 2, False),
        (1, "c", "x", 2, None, True),
        (2, "b", "y", 1, None, True),
    ]


def test_a_new_column_that_is_renamed_is_filled_still(load, rows, spark, table):
    post = load_contract(
        CONTRACT.replace("history:", "  - {name: post, type: string, renamed_from: zip}\nhistory:")
    )
    load(1, A, B)
    create_or_evolve(spark, MORE, table)
    create_or_evolve(spark, post, table)

    load(4, A | {"post": "2"}, B | {"post": "3"}, promise=post)

    assert rows("id, post") == [(1, "2", 1, None, True), (2, "3", 1, None, True)]


def test_a_crash_behind_the_commit_leaves_no_new_column_to_be_filled(
    load, rows, spark, table, monkeypatch
):
    """From the first full extract with it on, a first value is a change."""
    load(1, A, B)
    create_or_evolve(spark, MORE, table)
    with monkeypatch.context() as crash:
        crash.setattr(scd2, "_learnt", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            load(2, A, B | {"name": "c"}, promise=MORE)
    load(2, A, B | {"name": "c"}, promise=MORE)

    load(3, A | {"zip": "1"}, promise=MORE, extract="incremental")

    assert rows("id, zip")[:2] == [(1, None, 1, 3, False), (1, "1", 3, None, True)]


@pytest.mark.parametrize("policy", ["quarantine", "ignore"])
def test_the_first_value_of_a_new_column_is_not_late(load, rows, spark, table, policy):
    options = f"keys: [id], late_changes: {policy}"
    before = load_contract(TEXT.replace("keys: [id]", options))
    grown = TEXT.replace("- {name: at,", "- {name: zip, type: string}\n  - {name: at,")
    grown = grown.replace("track_history_columns: [name]", "track_history_columns: [name, zip]")
    after = load_contract(grown.replace("keys: [id]", options))
    told(load, "full", 3, at(1, "a"), promise=before)
    create_or_evolve(spark, after, table)

    done = told(load, "full", 5, at(1, "a", zip="x"), promise=after)

    assert (done.quarantined, done.superseded) == (0, 0)
    assert rows("id, name, zip") == [(1, "a", "x", 1, None, True)]


@pytest.mark.parametrize("renamed", [False, True])
def test_late_changes_compare_by_the_columns_that_are_tracked_now(
    load, rows, spark, table, renamed
):
    name = "name: town, renamed_from: city," if renamed else "name: city,"
    tracked = "[name, town]" if renamed else "[name, city]"
    text = TEXT.replace("name: city,", name).replace("[name]", tracked)
    after, city = load_contract(text), "town" if renamed else "city"
    told(load, "changes", 6, at(5, "a", seen=1, city="x"))
    told(load, "full", 10, at(5, "a", seen=1, city="x"))
    told(load, "changes", 21, at(20, "a", seen=2, city="x"))
    create_or_evolve(spark, after, table)

    told(load, "changes", 22, gone(7), promise=after)
    told(load, "changes", 23, at(15, "b", seen=3, **{city: "x"}), promise=after)

    assert [row[:5] for row in rows("id, name, seen")] == [
        (1, "a", 1, 5, 7),
        (1, "a", 1, 10, 15),
        (1, "b", 3, 15, 20),
        (1, "a", 2, 20, None),
    ]
