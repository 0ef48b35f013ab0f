from datetime import UTC, datetime, timedelta

from lakekit.contracts import load_contract
from lakekit.spark.maintenance import maintain_table
from tests.spark.conftest import CONTRACT

EAGER = load_contract(
    CONTRACT
    + "maintenance: {small_files_threshold: 3, snapshots: {max_age_days: 1, min_to_keep: 1}}\n"
)
NOW = datetime.now(UTC)


def _load_four_days(load):
    for day in (1, 2, 3, 4):
        load(day, {"id": 1, "name": "x" * day}, {"id": 2, "name": "y"})


def test_a_healthy_table_is_left_alone(load, table, spark, contract):
    load(1, {"id": 1})

    result = maintain_table(spark, contract, table, now=NOW)

    assert result.actions == ()
    assert result.after == result.before


def test_compaction_joins_small_files_and_leaves_the_rows_as_they_were(load, rows, table, spark):
    _load_four_days(load)
    before = rows()

    result = maintain_table(spark, EAGER, table, now=NOW)

    assert result.actions == ("rewrite_data_files",)
    assert result.after.data_files < result.before.data_files
    assert result.after.delete_files == 0
    assert rows() == before


def test_expiry_keeps_the_youngest_snapshots_and_the_rows(load, rows, table, spark):
    _load_four_days(load)
    before = rows()

    result = maintain_table(spark, EAGER, table, now=NOW + timedelta(days=2))

    assert result.actions[-2:] == ("expire_snapshots", "remove_orphan_files")
    assert result.after.snapshots < result.before.snapshots
    assert rows() == before


def test_a_merge_after_maintenance_goes_on_from_the_same_history(load, rows, table, spark):
    _load_four_days(load)
    maintain_table(spark, EAGER, table, now=NOW + timedelta(days=2))

    load(5, {"id": 1, "name": "z"}, {"id": 2, "name": "y"})

    assert rows("id, name")[-3:] == [
        (1, "xxxx", 4, 5, False),
        (1, "z", 5, None, True),
        (2, "y", 1, None, True),
    ]
