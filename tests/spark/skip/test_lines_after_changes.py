"""Lines are known again after the contract, the table or the source has changed."""

import json

import pytest

from lakekit.layout import journal_table
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.sql.line_hash import DIGEST, parse_fingerprint
from tests.spark.support.people import ANN, BEN, CAT, MOVED, PEOPLE, TIMED, people

pytestmark = pytest.mark.usefixtures("every_table_is_large")
MORE = people(columns={"age": "int"})


@pytest.fixture
def evolve(spark, table):
    return lambda contract: create_or_evolve(spark, contract, table)


def test_a_line_says_something_else_under_another_contract(load, rows, parsed, evolve):
    aged = [{**ANN, "age": 30}, {**BEN, "age": 40}]
    load(1, *aged)
    evolve(MORE)

    load(2, *aged, contract=MORE)

    assert parsed == [None, None]
    assert [row[2] for row in rows("id, name, age")] == [30, 40]


@pytest.mark.long
def test_lines_that_say_nothing_of_a_new_column_are_known_from_then_on(load, spark, table, evolve):
    """With event times, too, though their records could bring first values."""
    timed = {**ANN, "at": "2026-01-01"}, {**BEN, "at": "2026-01-01"}
    more = people(columns={"age": "int"}, sequence_by="at")
    load(2, *timed, contract=TIMED)
    evolve(more)
    before = spark.table(table).select("id", *DIGEST).collect()

    renewed = load(4, *timed, contract=more)

    assert (renewed.unchanged, renewed.opened, renewed.closed) == (2, 0, 0)
    assert not {*before} & {*spark.table(table).select("id", *DIGEST).collect()}
    # The repetition of a record needs no journal entry.
    assert spark.table(journal_table(table)).where("_op = 'upsert'").count() == 0


@pytest.mark.long
def test_a_line_of_before_a_change_is_not_known_when_the_contract_comes_back(load, parsed, evolve):
    load(1, ANN, BEN)
    evolve(MORE)
    evolve(PEOPLE)

    load(2, ANN, BEN)

    assert parsed == [None, None]


def test_a_change_of_the_contract_is_followed_by_one_reading_of_all_lines(
    load, rows, parsed, evolve
):
    aged = [{**ANN, "age": 30}, {**BEN, "age": 40}]
    load(1, ANN, BEN)
    evolve(MORE)
    before = rows()

    renewed = load(2, ANN, BEN, contract=MORE)
    known_now = load(3, ANN, BEN, contract=MORE)
    load(4, aged[0], BEN, contract=MORE)

    assert parsed == [None, None, 0, 1]
    assert (renewed.unchanged, renewed.opened, renewed.closed) == (2, 0, 0)
    assert (known_now.unchanged, known_now.committed) == (2, False)
    assert rows()[-1] == before[-1]


@pytest.mark.long
def test_a_reading_of_all_lines_merges_what_has_changed_too(load, assert_rows, parsed, evolve):
    load(1, ANN, BEN, CAT)
    evolve(MORE)

    done = load(2, {**ANN, "city": "Rome"}, BEN, contract=MORE)
    load(3, {**ANN, "city": "Rome"}, BEN, contract=MORE)

    assert parsed == [None, None, 0]
    assert (done.opened, done.deleted, done.unchanged) == (1, 1, 1)
    assert_rows(*MOVED, (3, "Cat", "Rome", 1, 2, False))


def test_a_source_that_writes_other_bytes_from_now_on_is_known_again(load, parsed):
    other = [json.dumps(each, separators=(",", ":")) for each in (ANN, BEN)]
    load(1, ANN, BEN)

    done = load(2, *other)
    load(3, *other)

    assert parsed == [None, None, 0]
    assert (done.unchanged, done.opened, done.closed) == (2, 0, 0)


@pytest.mark.long
def test_a_source_that_always_writes_other_bytes_is_given_up_for_a_while(load, parsed, tuned):
    for day in range(1, 5):
        load(day, {**ANN, "sent": day}, {**BEN, "sent": day})
    before = load(5, {**ANN, "sent": 5}, {**BEN, "sent": 5})
    tuned(renew_after_days=3)
    renewed = load(6, {**ANN, "sent": 6}, {**BEN, "sent": 6})

    assert parsed == [None] * 6
    assert (before.committed, renewed.committed) == (False, True)


@pytest.mark.long
def test_other_options_for_late_changes_are_another_reading():
    ignored = people(sequence_by="at", late_changes="ignore")

    assert parse_fingerprint(TIMED) != parse_fingerprint(ignored)
