"""Lines of a large full extract that are known by their bytes are not parsed."""

import json
from dataclasses import replace

import pytest
from pyspark.sql import Observation
from pyspark.sql import functions as F

from lakekit.contracts import load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.spark import digests, lines, quarantine, sift, stage
from lakekit.spark.base import SHOWN
from lakekit.spark.counts import based_counts
from lakekit.spark.order import Sight
from lakekit.spark.shown import shown_counts
from lakekit.spark.tables import create_or_evolve
from lakekit.sql.line_hash import DIGEST, LINES, reading
from tests.spark.people import ANN, BEN, CONTRACT, MOVED, TIMED

pytestmark = pytest.mark.usefixtures("every_table_is_large")
CAT = {"id": 3, "name": "Cat", "city": "Rome"}
SCOPED = load_contract(CONTRACT.replace("max_deleted", "delete_scope: [city], max_deleted"))
TIED, LATEST = (
    TIMED.model_copy(update={"history": TIMED.history.model_copy(update=options)})
    for options in ({"tie_break": ("city",)}, {"mode": "scd1"})
)
MORE = load_contract(CONTRACT.replace("history:", "  - {name: age, type: int}\nhistory:"))
PARTIAL = CONTRACT.replace("max_deleted", "ignore_null_updates: true, max_deleted")
PRICED = load_contract(CONTRACT.replace("city, type: string", 'city, type: "decimal(4,2)"'))


@pytest.fixture
def parsed(monkeypatch):
    """How many lines were parsed, for each full reading of a batch; None if all of them."""
    done = []

    def told(read):
        def reading(*asked, **options):
            sides = read(*asked, **options)
            done.append(sides.records.count() if sides.sifted else None)
            return sides

        return reading

    for name in ("read_sides", "read_whole"):
        monkeypatch.setattr(stage, name, told(getattr(stage, name)))
    return done


@pytest.fixture
def evolve(spark, table):
    return lambda contract: create_or_evolve(spark, contract, table)


def test_only_lines_that_are_not_known_are_parsed(load, rows, parsed):
    load(1, ANN, BEN)

    done = load(2, {**ANN, "city": "Rome"}, BEN)

    assert parsed == [None, 1]
    assert (done.opened, done.closed, done.unchanged) == (1, 1, 1)
    assert rows() == MOVED


def test_an_extract_whose_lines_are_all_known_stages_and_commits_nothing(load, parsed, monkeypatch):
    load(1, ANN, BEN)
    monkeypatch.setattr(stage, "_read", lambda *_: pytest.fail("something is staged"))

    done = load(2, BEN, ANN)

    assert parsed == [None, 0]
    assert (done.unchanged, done.committed) == (2, False)


@pytest.mark.parametrize(
    "promise",
    [load_contract(CONTRACT), SCOPED, TIED, LATEST],
    ids=["all", "scopes", "sequence", "latest"],
)
def test_where_nothing_is_left_the_same_is_counted_as_where_that_is_staged(
    load, monkeypatch, promise
):
    def watched(*asked):
        sides.append(read_sides(*asked))
        return sides[-1]

    def both(merge, counted, known_lines):
        done = nothing(merge, counted, known_lines)
        seen, read = Observation(), sides[-1]
        base = read.base.observe(seen, *based_counts(), *shown_counts(merge, F.lit(True)))
        left = base.where("_line_hash IS NULL").drop(*SHOWN)
        staged = stage._read(merge, Sight(), None, replace(read, base=left, based=seen))
        assert done.counts.items() >= staged.counts.items()
        assert done.rows.count() == staged.rows.count() == 0
        assert done.rows.schema.simpleString() == staged.rows.schema.simpleString()
        compared.append(done.counts["same"])
        return done

    sides, compared, nothing, read_sides = [], [], stage._nothing, stage.read_sides
    monkeypatch.setattr(stage, "read_sides", watched)
    monkeypatch.setattr(stage, "_nothing", both)
    people = [{**each, "at": "2026-01-01T00:00:00Z"} for each in (ANN, BEN, CAT)]
    load(1, *people, promise=promise)

    load(2, *people, promise=promise)

    assert compared == [3]


def test_known_lines_ahead_of_their_extract_are_parsed(load, rows, parsed):
    ann = {**ANN, "at": "2026-01-05T00:00:00Z"}
    load(1, ann, promise=TIMED)

    done = load(2, ann, promise=TIMED)

    assert parsed == [None, 0, None]
    assert (done.unchanged, done.opened) == (1, 0)
    assert rows("id") == [(1, 5, None, True)]


def test_a_key_that_no_line_shows_is_closed(load, rows, parsed):
    load(1, ANN, BEN, CAT)

    done = load(2, ANN, BEN)

    assert parsed == [None, 0]
    assert (done.deleted, done.unchanged) == (1, 2)
    assert rows()[2] == (3, "Cat", "Rome", 1, 2, False)


def test_a_version_tells_its_own_line_after_it_is_renewed(load, parsed):
    load(1, {**ANN, "at": "2026-01-01T00:00:00Z"}, promise=TIMED)
    load(2, {**ANN, "at": "2026-01-02T00:00:00Z"}, promise=TIMED)

    done = load(3, {**ANN, "at": "2026-01-02T00:00:00Z"}, promise=TIMED)

    assert parsed[2] == 0
    assert (done.unchanged, done.committed) == (1, False)


def test_the_bytes_of_an_earlier_version_are_not_known(load, rows, parsed, monkeypatch):
    monkeypatch.setattr(sift, "ENOUGH", 0)
    load(1, ANN)
    load(2, {**ANN, "city": "Rome"})

    done = load(3, ANN)

    assert parsed[2] == 1
    assert done.opened == 1
    assert rows()[2] == (1, "Ann", "Oslo", 3, None, True)


def test_other_bytes_that_say_the_same_are_parsed_and_change_nothing(load, parsed, monkeypatch):
    load(1, ANN, BEN)
    monkeypatch.setattr(sift, "ENOUGH", 0)

    done = load(2, json.dumps(ANN, indent=None, separators=(",", ":")), BEN)

    assert parsed[1] == 1
    assert (done.unchanged, done.committed) == (2, False)


def test_where_few_lines_are_known_all_are_parsed_at_once(load, parsed):
    load(1, ANN, BEN, CAT)

    load(2, ANN, *({**each, "city": "Lima"} for each in (BEN, CAT)))

    assert parsed == [None, None]


def test_a_known_line_beside_another_of_its_key_is_read_again(load, rows, parsed):
    load(1, ANN, BEN)

    done = load(2, {**ANN, "city": "Rome"}, BEN, ANN)

    # The last one of the file counts.
    assert parsed == [None, 1, None]
    assert (done.unchanged, done.superseded, done.committed) == (2, 1, False)


def test_a_known_line_that_comes_twice_is_a_duplicate(load, parsed):
    load(1, ANN, BEN)

    done = load(2, ANN, BEN, ANN)

    assert parsed == [None, None]
    assert (done.unchanged, done.duplicates) == (2, 1)


@pytest.mark.parametrize("places", [1, 2])
def test_digests_beyond_the_places_of_a_list_are_not_known(load, rows, parsed, monkeypatch, places):
    monkeypatch.setattr(digests, "PLACES", places)
    monkeypatch.setattr(sift, "number_of_lists", lambda _: 1)
    load(1, ANN, BEN, CAT)

    done = load(2, ANN, BEN, {**CAT, "city": "Lima"})

    # The one that is changed may be among those in a place.
    assert parsed[1] in {3 - places, 4 - places}
    assert (done.opened, done.closed, done.unchanged) == (1, 1, 2)
    assert rows()[2:] == [(3, "Cat", "Rome", 1, 2, False), (3, "Cat", "Lima", 2, None, True)]


def test_one_list_of_many_digests_tells_which_no_line_has(load, rows, parsed, monkeypatch):
    monkeypatch.setattr(sift, "number_of_lists", lambda _: 1)
    people = [{"id": n, "name": f"P{n}", "city": "Oslo"} for n in range(70)]
    load(1, *people)

    done = load(2, *people[:20], *people[21:69])

    # A list has 64 places; of the six beyond them two may be gone.
    assert 4 <= parsed[1] <= 6
    assert (done.deleted, done.unchanged) == (2, 68)
    assert [row[0] for row in rows("id") if not row[-1]] == [20, 69]


def test_the_second_half_of_the_digest_tells_lines_apart(load, rows, parsed, monkeypatch):
    real = lines.line_digest
    monkeypatch.setattr(lines, "line_digest", lambda *a: ["7L AS _line_hash", real(*a)[1]])
    load(1, ANN)

    load(2, {**ANN, "city": "Rome"})

    assert parsed == [None, 0, None]
    assert rows() == MOVED[:2]


def test_versions_of_one_first_half_are_told_apart_by_the_second(load, rows, monkeypatch):
    real = lines.line_digest
    monkeypatch.setattr(lines, "line_digest", lambda *a: ["7L AS _line_hash", real(*a)[1]])
    load(1, ANN, BEN)

    load(2, BEN)

    assert rows() == [(1, "Ann", "Oslo", 1, 2, False), MOVED[2]]


def test_versions_of_one_first_half_that_no_line_shows_are_each_there_once(
    load, parsed, monkeypatch
):
    real = lines.line_digest

    def digest(*asked):
        first, second = real(*asked)
        half = first.removesuffix(f" AS `{DIGEST[0]}`")
        assert half != first
        return [f"if(__raw LIKE '%Cat%', {half}, 7L) AS {DIGEST[0]}", second]

    monkeypatch.setattr(lines, "line_digest", digest)
    load(1, ANN, BEN, CAT)

    done = load(2, CAT)

    assert parsed == [None, 0]
    assert (done.deleted, done.unchanged, done.duplicates) == (2, 1, 0)


def test_a_line_says_something_else_under_another_contract(load, rows, parsed, evolve):
    aged = [{**ANN, "age": 30}, {**BEN, "age": 40}]
    load(1, *aged)
    evolve(MORE)

    load(2, *aged, promise=MORE)

    assert parsed == [None, None]
    assert [row[2] for row in rows("id, name, age")] == [30, 40]


def test_a_line_of_before_a_change_is_not_known_when_the_contract_comes_back(load, parsed, evolve):
    load(1, ANN, BEN)
    evolve(MORE)
    evolve(load_contract(CONTRACT))

    load(2, ANN, BEN)

    assert parsed == [None, None]


def test_what_partial_records_left_is_not_told_by_their_lines(load, rows, parsed):
    partial = load_contract(PARTIAL)
    load(1, ANN, promise=partial)
    load(2, {"id": 1, "city": "Rome"}, promise=partial, extract="changes")
    load(3, {"id": 1, "city": "Rome"}, promise=partial)

    assert parsed == [None, None, None]
    assert rows()[-1] == (1, None, "Rome", 3, None, True)


def test_known_lines_tell_the_scopes_of_their_extract(load, rows, parsed):
    dan = {"id": 4, "name": "Dan", "city": "Oslo"}
    load(1, ANN, BEN, CAT, dan, promise=SCOPED)

    done = load(2, ANN, CAT, promise=SCOPED)

    assert parsed == [None, 0]
    # Of Bonn the extract has nothing.
    assert (done.deleted, done.unchanged) == (1, 2)
    assert rows()[3] == (4, "Dan", "Oslo", 1, 2, False)


def test_a_line_that_breaks_the_contract_is_quarantined_each_time(load, parsed):
    load(1, {"id": 1, "city": 1}, {"id": 2, "city": 2}, {"id": 3, "city": 2.001}, promise=PRICED)

    done = load(
        2, {"id": 1, "city": 1}, {"id": 2, "city": 2}, {"id": 3, "city": 2.001}, promise=PRICED
    )

    assert parsed == [None, 1]
    assert (done.unchanged, done.quarantined) == (2, 1)


def test_too_many_absences_are_refused_by_the_share_of_all_keys(load):
    guarded = load_contract(CONTRACT.replace("max_deleted_ratio: 1", "max_deleted_ratio: 0.3"))
    load(1, ANN, BEN, CAT, promise=guarded)

    with pytest.raises(Exception, match="would close 2 of 3 current keys"):
        load(2, ANN, promise=guarded)


def test_a_change_of_the_contract_is_followed_by_one_reading_of_all_lines(
    load, rows, parsed, evolve
):
    aged = [{**ANN, "age": 30}, {**BEN, "age": 40}]
    load(1, ANN, BEN)
    evolve(MORE)
    before = rows()

    renewed = load(2, ANN, BEN, promise=MORE)
    known_now = load(3, ANN, BEN, promise=MORE)
    load(4, aged[0], BEN, promise=MORE)

    assert parsed == [None, None, 0, 1]
    assert (renewed.unchanged, renewed.opened, renewed.closed) == (2, 0, 0)
    assert (known_now.unchanged, known_now.committed) == (2, False)
    assert rows()[-1] == before[-1]


def test_a_reading_of_all_lines_merges_what_has_changed_too(load, rows, parsed, evolve):
    load(1, ANN, BEN, CAT)
    evolve(MORE)

    done = load(2, {**ANN, "city": "Rome"}, BEN, promise=MORE)
    load(3, {**ANN, "city": "Rome"}, BEN, promise=MORE)

    assert parsed == [None, None, 0]
    assert (done.opened, done.deleted, done.unchanged) == (1, 1, 1)
    assert rows() == [*MOVED, (3, "Cat", "Rome", 1, 2, False)]


def test_a_table_that_is_older_than_the_digests_gets_them(load, parsed, spark, table, evolve):
    load(1, ANN, BEN)
    for name in DIGEST:
        spark.sql(f"ALTER TABLE {table} DROP COLUMN {name}")
    spark.sql(f"ALTER TABLE {table} UNSET TBLPROPERTIES ('{LINES}')")
    evolve(load_contract(CONTRACT))

    load(2, ANN, BEN)
    load(3, ANN, BEN)

    assert parsed == [None, None, 0]


def test_a_table_without_digests_asks_for_them(load, spark, table):
    load(1, ANN, BEN)
    for name in DIGEST:
        spark.sql(f"ALTER TABLE {table} DROP COLUMN {name}")

    with pytest.raises(SchemaMismatchError, match=r"lacks _line_hash, _line_check .* CreateTables"):
        load(2, {**ANN, "city": "Rome"}, BEN)


def test_several_records_on_one_line_are_rejected(load, rows):
    done = load(1, json.dumps([ANN, BEN]), CAT)

    assert (done.opened, done.quarantined) == (1, 1)
    assert rows("id") == [(3, 1, None, True)]


def test_a_source_that_writes_other_bytes_from_now_on_is_known_again(load, parsed):
    other = [json.dumps(each, separators=(",", ":")) for each in (ANN, BEN)]
    load(1, ANN, BEN)

    told = load(2, *other)
    load(3, *other)

    assert parsed == [None, None, 0]
    assert (told.unchanged, told.opened, told.closed) == (2, 0, 0)


def test_a_source_that_always_writes_other_bytes_is_given_up_for_a_while(load, parsed, monkeypatch):
    for day in range(1, 5):
        load(day, {**ANN, "sent": day}, {**BEN, "sent": day})
    before = load(5, {**ANN, "sent": 5}, {**BEN, "sent": 5})
    monkeypatch.setattr(sift, "RENEW_AFTER", 3)
    renewed = load(6, {**ANN, "sent": 6}, {**BEN, "sent": 6})

    assert parsed == [None] * 6
    assert (before.committed, renewed.committed) == (False, True)


def test_what_is_rejected_beside_known_lines_is_read_once(load, parsed, spark, table, monkeypatch):
    load(1, ANN, BEN)
    monkeypatch.setattr(quarantine, "read_batch", lambda _: pytest.fail("all lines are read again"))

    load(2, ANN, BEN, "not json")

    (row,) = spark.table(f"{table}_quarantine").collect()
    assert (row["_raw"], row["_fault"]) == ("not json", "does not parse as the contract's schema")


def test_versions_that_say_deleted_do_not_hinder_the_lines_of_others(load, rows, parsed):
    marking = load_contract(CONTRACT.replace("max_deleted", "deletes: mark, max_deleted"))
    load(1, ANN, BEN, CAT, promise=marking)
    load(2, ANN, BEN, promise=marking)

    done = load(3, ANN, BEN, CAT, promise=marking)

    assert parsed == [None, 0, 1]
    assert (done.opened, done.unchanged) == (1, 2)
    assert rows()[-1] == (3, "Cat", "Rome", 3, None, True)


def test_other_options_for_late_changes_are_another_reading():
    history = TIMED.history.model_copy(update={"late_changes": "ignore"})

    assert reading(TIMED) != reading(TIMED.model_copy(update={"history": history}))


def test_scd1_counts_a_known_line_of_a_key_that_came_back_as_if_it_were_parsed(load, parsed):
    ann, ben = ({**each, "at": "2026-01-01T00:00:00Z"} for each in (ANN, BEN))
    load(2, ann, ben, promise=LATEST)
    load(3, ben, promise=LATEST)
    load(4, ann, ben, promise=LATEST)

    done = load(5, ann, ben, promise=LATEST)

    # Its record is older than what brought it back; see `with_presence`.
    assert parsed[3] == 1
    assert (done.unchanged, done.superseded) == (1, 1)
