"""A preview after the contract has changed is of the table as it would be."""

import pytest

from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.late import CDC, at, cdc, load_as
from tests.spark.support.people import TIMED, people
from tests.tiers import long


@pytest.mark.parametrize("city", ["string", long("struct<town:string,zip:string>")])
def test_a_late_record_is_shown_as_it_will_be_merged_without_a_dropped_column(
    load, plan, spark, table, tmp_path, city
):
    before = cdc(columns={"city": city})
    after = cdc(columns={"city": None if city == "string" else "struct<zip:string>"})
    towns = [town if city == "string" else {"town": town} for town in "xyz"]
    days = zip((5, 7, 9), "aba", towns, strict=True)
    said = [at(day, name, city=town) for day, name, town in days]
    load_as(load, "changes", 10, *said, contract=before)
    create_or_evolve(spark, after, table)

    seen = plan(11, at(7, "a"), contract=after, extract="changes").result

    done = plan.merge()
    assert seen == done.model_copy(update={"snapshot_id": None, "committed": False})
    # Nothing but the dropped column separated the versions.
    assert spark.table(table).count() == 1


@pytest.mark.long
def test_a_late_record_with_a_new_and_a_renamed_column_is_shown(load, plan):
    after = people(sequence_by="at", rename={"city": "town"}, columns={"zip": "int"})
    load(9, at(9, "a", city="x"), at(10, "a", city="x"), contract=TIMED)

    preview = plan(11, at(5, "b", town="y", zip=1), contract=after, extract="incremental")

    assert any("RENAME COLUMN `city`" in statement for statement in preview.evolves)
    assert [(row["change"], row["from"].day) for row in preview.samples["late"]] == [("insert", 5)]


def test_a_table_that_begins_to_keep_versions_is_seen_as_it_will_be(load, plan):
    """The row of a key in scd1 has replaced what earlier full extracts said of it."""
    latest = cdc(mode="scd1")
    load_as(load, "full", 10, at(5, "a"), contract=latest)
    load_as(load, "full", 20, at(15, "b"), contract=latest)

    seen = plan(21, at(3, "c"), contract=CDC, extract="changes")

    assert [(row["from"].day, row["to"].day) for row in seen.samples["late"]] == [(3, 15)]
