"""Partial records, in incremental extracts as in change extracts: a null means "not changed".

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

import pytest

from lakekit.errors import InvalidStepInputError
from tests.spark.support.late import at, cdc, load_as
from tests.spark.support.people import people
from tests.tiers import long


@pytest.mark.parametrize("kind", ["incremental", long("changes")])
def test_a_null_keeps_the_value_before_it_also_where_a_late_record_changes_that(
    load, plan, assert_rows, kind
):
    contract = cdc(ignore_null_updates=True, track_history_columns=["name", "city"])
    load_as(load, kind, 2, at(1, "a", city="x"), contract=contract)
    load_as(load, kind, 6, at(5, "b"), contract=contract)
    preview = plan(8, at(3, None, city="y"), contract=contract, extract=kind)

    done = load_as(load, kind, 8, at(3, None, city="y"), contract=contract)

    assert_rows(
        (1, "a", "x", 1, 3, False),
        (1, "a", "y", 3, 5, False),
        (1, "b", "y", 5, None, True),
        columns="id, name, city",
    )
    assert (
        (preview.result.opened, preview.result.restored) == (done.opened, done.restored) == (1, 1)
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "options", [{}, {"sequence_by": "at", "late_changes": "ignore"}, {"deletes": "mark"}]
)
def test_a_null_keeps_the_value_of_an_earlier_run_and_of_the_same(load, assert_rows, options):
    partial = people(ignore_null_updates=True, **options)

    def record(day, **values):
        return {"id": 1, "at": f"2026-01-0{day}", **values}

    load(2, record(2, name="Ann", city="Oslo"), contract=partial, extract="incremental")
    load(3, record(3, city="Rome"), contract=partial, extract="incremental")
    load(4, record(4, name="Anne", city=None), contract=partial, extract="incremental")

    assert_rows(
        (1, "Ann", "Oslo", 2, 3, False),
        (1, "Ann", "Rome", 3, 4, False),
        (1, "Anne", "Rome", 4, None, True),
    )


@pytest.mark.long
def test_a_full_extract_is_refused_where_records_are_partial(load, plan):
    for merge in (load, plan):
        with pytest.raises(InvalidStepInputError, match="a null in a full extract is a value"):
            merge(1, {"id": 1}, contract=people(ignore_null_updates=True), extract="full")
