"""What a merge would do after its contract has changed is told of the table as it would be."""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.late import TEXT, at, told
from tests.spark.people import CONTRACT
from tests.tiers import long


@pytest.mark.parametrize("city", ["string", long("struct<town:string,zip:string>")])
def test_what_a_dropped_column_tells_apart_is_told_apart(load, plan, spark, table, tmp_path, city):
    text = TEXT.replace("city, type: string", f'city, type: "{city}"')
    fewer = text.replace("town:string,", "")
    if fewer == text:
        fewer = text.replace('  - {name: city, type: "string"}\n', "")
    towns = [town if city == "string" else {"town": town} for town in "xyz"]
    days = zip((5, 7, 9), "aba", towns, strict=True)
    said = [at(day, name, city=town) for day, name, town in days]
    told(load, "changes", 10, *said, promise=load_contract(text))
    create_or_evolve(spark, load_contract(fewer), table)

    seen = plan(11, at(7, "a"), promise=load_contract(fewer), extract="changes").result

    merge = plan.merge
    done = merge_scd2(spark, merge.contract, merge.batch, table, staging=merge.place)
    assert seen == done.model_copy(update={"snapshot_id": None, "committed": False})
    assert spark.table(table).count() == 2


def test_a_late_record_beside_a_new_and_a_renamed_column_is_told(load, plan):
    text = CONTRACT.replace("history:", "  - {name: at, type: timestamp}\nhistory:")
    text = text.replace("keys: [id]", "keys: [id], sequence_by: at")
    before = load_contract(text)
    more = "name: town, type: string, renamed_from: city}\n  - {name: zip, type: int}"
    after = load_contract(text.replace("name: city, type: string}", more))
    load(9, at(9, "a", city="x"), at(10, "a", city="x"), promise=before)

    told = plan(11, at(5, "b", town="y", zip=1), promise=after, extract="incremental")

    assert any("RENAME COLUMN `city`" in statement for statement in told.evolves)
    assert [(row["change"], row["from"].day) for row in told.samples["late"]] == [("insert", 5)]


def test_a_table_that_begins_to_keep_versions_is_seen_as_it_will_be(load, plan):
    """What the full extracts of scd1 said before its row of a key, that row has replaced."""
    latest = load_contract(TEXT.replace("keys: [id]", "keys: [id], mode: scd1"))
    told(load, "full", 10, at(5, "a"), promise=latest)
    told(load, "full", 20, at(15, "b"), promise=latest)

    seen = plan(21, at(3, "c"), promise=load_contract(TEXT), extract="changes")

    assert [(row["from"].day, row["to"].day) for row in seen.samples["late"]] == [(3, 15)]
