"""Lines are known again after the contract, the table or the source has changed."""

import json

import pytest

from lakekit.contract.contract import load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.layout import facts_table
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark.skip import lines as sift
from lakekit.sql.line_hash import DIGEST, LINES, reading
from tests.spark.people import ANN, BEN, CAT, CONTRACT, MOVED, TIMED, TIMED_TEXT

pytestmark = pytest.mark.usefixtures("every_table_is_large")
MORE = load_contract(CONTRACT.replace("history:", "  - {name: age, type: int}\nhistory:"))


@pytest.fixture
def evolve(spark, table):
    return lambda contract: create_or_evolve(spark, contract, table)


def test_a_line_says_something_else_under_another_contract(load, rows, parsed, evolve):
    aged = [{**ANN, "age": 30}, {**BEN, "age": 40}]
    load(1, *aged)
    evolve(MORE)

    load(2, *aged, promise=MORE)

    assert parsed == [None, None]
    assert [row[2] for row in rows("id, name, age")] == [30, 40]


def test_lines_that_say_nothing_of_a_new_column_are_known_from_then_on(load, spark, table, evolve):
    """With times, too, though their records could bring first values."""
    timed = {**ANN, "at": "2026-01-01"}, {**BEN, "at": "2026-01-01"}
    more = load_contract(TIMED_TEXT.replace("history:", "  - {name: age, type: int}\nhistory:"))
    load(2, *timed, promise=TIMED)
    evolve(more)
    before = spark.table(table).select("id", *DIGEST).collect()

    renewed = load(4, *timed, promise=more)

    assert (renewed.unchanged, renewed.opened, renewed.closed) == (2, 0, 0)
    assert not {*before} & {*spark.table(table).select("id", *DIGEST).collect()}
    # That they were said again needs no remembering.
    assert spark.table(facts_table(table)).where("_op = 'U'").count() == 0


def test_a_line_of_before_a_change_is_not_known_when_the_contract_comes_back(load, parsed, evolve):
    load(1, ANN, BEN)
    evolve(MORE)
    evolve(load_contract(CONTRACT))

    load(2, ANN, BEN)

    assert parsed == [None, None]


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


def test_other_options_for_late_changes_are_another_reading():
    history = TIMED.history.model_copy(update={"late_changes": "ignore"})

    assert reading(TIMED) != reading(TIMED.model_copy(update={"history": history}))
