"""Contracts that a table does not follow: refused before anything is written."""

import pytest

from lakekit.errors import SchemaMismatchError
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.schema.test_evolution import FEWER, A, B
from tests.spark.support.people import PEOPLE, people
from tests.tiers import long


@pytest.mark.usefixtures("both_ways_of_writing")
@pytest.mark.parametrize("nested", [False, long(True)])
def test_a_table_behind_its_contract_is_refused_and_not_written_in_part(load, spark, table, nested):
    first, contract, city, lacks = FEWER, PEOPLE, "x", "city"
    if nested:
        kinds = ("map<string,struct<a:int>>", "map<string,struct<a:int,b:int>>")
        first, contract = (people(columns={"city": kind}) for kind in kinds)
        city, lacks = {"k": {"b": 1}}, "city.value.b"
    load(1, {"id": 1, "name": "a"}, contract=first)

    with pytest.raises(SchemaMismatchError, match=f"lacks {lacks}"):
        load(2, {"id": 1, "name": "b", "city": city}, contract=contract)

    assert [row["name"] for row in spark.table(table).collect()] == ["a"]


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, long({"mode": "scd1"}), long({"delete_scope": ["city"]})])
@pytest.mark.parametrize("late", ["exact", long("quarantine"), long("ignore")])
def test_a_table_whose_times_are_those_of_extracts_gets_no_others(
    load, spark, table, rows, options, late
):
    """A key that ended when an extract lacked it may have changed earlier, by its own times."""
    dated = {"columns": {"at": "date"}, **options}
    before, after = people(**dated), people(**dated, sequence_by="at", late_changes=late)
    load(2, {**A, "at": "2026-01-01"}, {**B, "at": "2026-01-01"}, contract=before)
    load(6, {**A, "at": "2026-01-01"}, contract=before)
    seen = rows()

    with pytest.raises(SchemaMismatchError, match="its sequence_by none cannot become at"):
        create_or_evolve(spark, after, table)
    # The next merge would open a version on the fourth day that had ended on the sixth.
    assert rows() == seen


@pytest.mark.parametrize(
    ("history", "fault"),
    [
        long({"mode": "scd1"}, "its mode scd2 cannot become scd1"),
        ({"keys": ["id", "name"]}, "its keys id cannot become id, name"),
        ({"deletes": "mark"}, "deletes: close cannot become mark"),
    ],
)
def test_a_run_by_a_contract_that_its_table_never_took_is_refused(load, rows, history, fault):
    """It may have been planned earlier, and come again."""
    load(1, A, B)
    seen = rows()

    with pytest.raises(SchemaMismatchError, match=fault):
        load(2, A, contract=people(**history))

    assert rows() == seen
