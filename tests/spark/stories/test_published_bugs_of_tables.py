"""Published bugs that are about a table itself: its contract, its files, its neighbours."""

import pytest

from lakekit.errors import SchemaMismatchError, TooManyDeletedError
from lakekit.spark.iceberg.table import load_table
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.people import ANN, BEN, people
from tests.spark.support.seams import crash_at_the_end_of

TIER = {"tier": "string"}


@pytest.mark.long
def test_a_column_may_be_new_in_the_run_in_which_a_key_is_deleted(load, assert_rows, spark, table):
    """dbt-core #11735, #11766: the new column is looked for in the old rows."""
    load(1, ANN, BEN, contract=people(deletes="mark"))
    wider = people(columns=TIER, deletes="mark")
    create_or_evolve(spark, wider, table)

    load(2, {**ANN, "tier": "gold"}, contract=wider)

    assert_rows(
        (1, "Ann", "gold", False, 1, None, True),
        (2, "Ben", None, False, 1, 2, False),
        (2, None, None, True, 2, None, True),
        columns="id, name, tier, _is_deleted",
    )


@pytest.mark.long
def test_other_keys_are_refused_and_a_renamed_one_stays_a_key(
    load, assert_rows, spark, table, contract
):
    """dbt-core #2350: other keys change the meaning of the history silently."""
    load(1, ANN, BEN)
    other = people(keys=["id", "city"])
    with pytest.raises(SchemaMismatchError, match="keys id cannot become id, city"):
        create_or_evolve(spark, other, table)
    renamed = people(rename={"id": "number"}, keys=["number"])
    create_or_evolve(spark, renamed, table)

    load(2, {"number": 1, "name": "Ann", "city": "Rome"}, contract=renamed)

    assert_rows(
        (1, "Oslo", 1, 2, False),
        (1, "Rome", 2, None, True),
        (2, "Bonn", 1, 2, False),
        columns="number, city",
    )
    assert not create_or_evolve(spark, renamed, table).changes


@pytest.mark.long
def test_what_is_tracked_may_change_and_opens_nothing_by_itself(
    load, assert_rows, spark, table, contract
):
    """dbt-core #2350; Spark #57625 refuses it."""
    partly = people(track_history_except=["city"])
    load(1, ANN, BEN)
    create_or_evolve(spark, partly, table)
    load(2, ANN, {**BEN, "city": "Bern"}, contract=partly)
    create_or_evolve(spark, contract, table)
    same = load(3, ANN, {**BEN, "city": "Bern"})

    load(4, {**ANN, "city": "Rome"}, {**BEN, "city": "Bern"})

    assert not same.committed
    assert_rows(
        (1, "Oslo", 1, 4, False),
        (1, "Rome", 4, None, True),
        (2, "Bern", 1, None, True),
        columns="id, city",
    )


def test_names_that_tools_keep_for_themselves_do_not_clash(load, assert_rows, tmp_path):
    """sdp-meta #267: __START_AT of the source; it also reads all of the source in every run."""
    short = people(columns={"name": None, "city": None, "s": "string", "t": "string"})
    clash = {"__START_AT": 1, "__END_AT": None, "_valid_from": "x", "_corrupt_record": "y"}
    load(1, {"id": 1, "s": "Ann", "t": "Oslo", **clash}, {"id": 2, "s": "Ben"}, contract=short)
    for landed in tmp_path.glob("*.ndjson"):
        landed.unlink()

    load(2, {"id": 1, "s": "Ann", "t": "Rome", **clash}, contract=short)

    assert_rows(
        (1, "Ann", "Oslo", 1, 2, False),
        (1, "Ann", "Rome", 2, None, True),
        (2, "Ben", None, 1, 2, False),
        columns="id, s, t",
    )


@pytest.mark.long
def test_what_did_not_change_is_not_rewritten(load, spark, table):
    """dlt #4305 and #3655; airbyte #85194: no equality deletes, which not every engine reads."""
    load(1, ANN, BEN)
    written = f"SELECT DISTINCT _file FROM {table} WHERE id = 2"
    before = spark.sql(written).collect()

    load(2, {**ANN, "city": "Rome"}, BEN)

    assert spark.sql(written).collect() == before
    kinds = spark.sql(f"SELECT DISTINCT content FROM {table}.all_files ORDER BY 1").collect()
    assert [row["content"] for row in kinds] == [0, 1]


def test_a_run_leaves_no_temporary_files_whether_it_is_merged_or_refused(load, tmp_path):
    """dbt-glue #573: the files of the staging table stay in S3."""
    load(1, ANN, BEN)
    load(2, {**ANN, "city": "Rome"}, BEN)
    careful = people(max_deleted_ratio=0.2)
    with pytest.raises(TooManyDeletedError):
        load(3, BEN, contract=careful)

    assert not [path for path in (tmp_path / "s").rglob("*") if path.is_file()]


def test_a_run_makes_and_drops_no_table_but_its_own(load, spark, table, monkeypatch):
    """dbt-glue #543: the staging table is dropped as if it were a view, which fails."""

    def tables():
        return {row["tableName"] for row in spark.sql("SHOW TABLES IN lake.local").collect()}

    before = tables()
    load(1, ANN, BEN)
    made = load_table(spark, table).uuid()

    with crash_at_the_end_of(monkeypatch, "merge"):
        load(2, {**ANN, "city": "Rome"}, BEN)
    load(2, {**ANN, "city": "Rome"}, BEN)

    assert tables() - before == {table.rpartition(".")[2]}
    assert load_table(spark, table).uuid() == made


def test_a_table_of_the_same_name_in_another_database_is_left_alone(spark, table, contract, load):
    """aws-sdk-pandas #2581: ALTER TABLE hits the database of the session."""
    name = table.rpartition(".")[2]
    load(1, ANN)
    other = people(columns=TIER)
    create_or_evolve(spark, contract, f"lake.elsewhere.{name}")

    create_or_evolve(spark, other, f"lake.elsewhere.{name}")

    assert "tier" in spark.table(f"lake.elsewhere.{name}").columns
    assert "tier" not in spark.table(table).columns
