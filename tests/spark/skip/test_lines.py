"""Lines of a large full extract that are known by their bytes are not parsed."""

import json

import pytest

from tests.spark.support.people import ANN, BEN, CAT, MOVED, TIMED, people
from tests.spark.support.seams import around

pytestmark = pytest.mark.usefixtures("every_table_is_large")
PRICED = people(columns={"city": "decimal(4,2)"})


def test_only_lines_that_are_not_known_are_parsed(load, assert_rows, parsed):
    load(1, ANN, BEN)

    done = load(2, {**ANN, "city": "Rome"}, BEN)

    assert parsed == [None, 1]
    assert (done.opened, done.closed, done.unchanged) == (1, 1, 1)
    assert_rows(*MOVED)


def test_an_extract_whose_lines_are_all_known_stages_and_commits_nothing(load, parsed, monkeypatch):
    load(1, ANN, BEN)
    around(monkeypatch, "stage", lambda *_: pytest.fail("something is staged"))

    done = load(2, BEN, ANN)

    assert parsed == [None, 0]
    assert (done.unchanged, done.committed) == (2, False)


def test_known_lines_ahead_of_their_extract_are_parsed(load, assert_rows, parsed):
    ann = {**ANN, "at": "2026-01-05T00:00:00Z"}
    load(1, ann, contract=TIMED)

    done = load(2, ann, contract=TIMED)

    assert parsed == [None, 0, None]
    assert (done.unchanged, done.opened) == (1, 0)
    assert_rows((1, 5, None, True), columns="id")


def test_a_key_that_no_line_shows_is_closed(load, rows, parsed):
    load(1, ANN, BEN, CAT)

    done = load(2, ANN, BEN)

    assert parsed == [None, 0]
    assert (done.deleted, done.unchanged) == (1, 2)
    assert rows()[2] == (3, "Cat", "Rome", 1, 2, False)


def test_a_version_has_its_own_line_after_it_is_renewed(load, parsed):
    load(1, {**ANN, "at": "2026-01-01T00:00:00Z"}, contract=TIMED)
    load(2, {**ANN, "at": "2026-01-02T00:00:00Z"}, contract=TIMED)

    done = load(3, {**ANN, "at": "2026-01-02T00:00:00Z"}, contract=TIMED)

    assert parsed[2] == 0
    assert (done.unchanged, done.committed) == (1, False)


@pytest.mark.long
def test_the_bytes_of_an_earlier_version_are_not_known(load, rows, parsed, tuned):
    tuned(skipping_share=0)
    load(1, ANN)
    load(2, {**ANN, "city": "Rome"})

    done = load(3, ANN)

    assert parsed[2] == 1
    assert done.opened == 1
    assert rows()[2] == (1, "Ann", "Oslo", 3, None, True)


@pytest.mark.long
def test_other_bytes_that_say_the_same_are_parsed_and_change_nothing(load, parsed, tuned):
    load(1, ANN, BEN)
    tuned(skipping_share=0)

    done = load(2, json.dumps(ANN, indent=None, separators=(",", ":")), BEN)

    assert parsed[1] == 1
    assert (done.unchanged, done.committed) == (2, False)


def test_where_few_lines_are_known_all_are_parsed_at_once(load, parsed):
    load(1, ANN, BEN, CAT)

    load(2, ANN, *({**each, "city": "Lima"} for each in (BEN, CAT)))

    assert parsed == [None, None]


def test_a_known_line_with_another_of_its_key_is_read_again(load, rows, parsed):
    load(1, ANN, BEN)

    done = load(2, {**ANN, "city": "Rome"}, BEN, ANN)

    # The last one of the file counts.
    assert parsed == [None, 1, None]
    assert (done.unchanged, done.superseded, done.committed) == (2, 1, False)


@pytest.mark.long
def test_a_known_line_that_comes_twice_is_a_duplicate(load, parsed):
    load(1, ANN, BEN)

    done = load(2, ANN, BEN, ANN)

    assert parsed == [None, None]
    assert (done.unchanged, done.duplicates) == (2, 1)


@pytest.mark.long
def test_a_line_that_breaks_the_contract_is_quarantined_each_time(load, parsed):
    load(1, {"id": 1, "city": 1}, {"id": 2, "city": 2}, {"id": 3, "city": 2.001}, contract=PRICED)

    done = load(
        2, {"id": 1, "city": 1}, {"id": 2, "city": 2}, {"id": 3, "city": 2.001}, contract=PRICED
    )

    assert parsed == [None, 1]
    assert (done.unchanged, done.quarantined) == (2, 1)


@pytest.mark.long
def test_too_many_absences_are_refused_by_the_share_of_all_keys(load):
    guarded = people(max_deleted_ratio=0.3)
    load(1, ANN, BEN, CAT, contract=guarded)

    with pytest.raises(Exception, match="would close 2 of 3 current keys"):
        load(2, ANN, contract=guarded)


@pytest.mark.long
def test_several_records_on_one_line_are_rejected(load, assert_rows):
    done = load(1, json.dumps([ANN, BEN]), CAT)

    assert (done.opened, done.quarantined) == (1, 1)
    assert_rows((3, 1, None, True), columns="id")


def test_what_is_rejected_next_to_known_lines_is_read_once(load, parsed, spark, table, monkeypatch):
    load(1, ANN, BEN)
    around(monkeypatch, "read rejected", lambda *_: pytest.fail("all lines are read again"))

    load(2, ANN, BEN, "not json")

    (row,) = spark.table(f"{table}_quarantine").collect()
    assert (row["_raw"], row["_fault"]) == ("not json", "does not parse as the contract's schema")
