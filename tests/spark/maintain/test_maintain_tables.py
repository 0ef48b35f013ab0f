import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from lakekit.errors import CommitConflictError
from lakekit.spark.iceberg.table import load_table
from lakekit.spark.maintain_tables import maintain_table, wants_maintenance
from lakekit.spark.query import changes_between
from tests.spark.support.people import people
from tests.spark.support.phases import before_scans
from tests.tiers import long

SNAPSHOTS = {"snapshots": {"max_age_days": 1, "min_to_keep": 1}}
EXPIRING = people(maintenance=SNAPSHOTS)
COMPACTING = people(maintenance={"small_files_threshold": 3})
EAGER = people(maintenance={"small_files_threshold": 3, **SNAPSHOTS})
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
    """Delete files survive it in iceberg #4127, #5058, #6126."""
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


def test_expiry_keeps_what_has_a_tag_and_what_readers_ask_of_the_past(load, table, spark):
    """seaweedfs #10774; iceberg #9504: readers of snapshots find nothing."""
    load(1, {"id": 1, "name": "a"})
    spark.sql(f"ALTER TABLE {table} CREATE TAG quarter")
    load(2, {"id": 1, "name": "b"})
    load(3, {"id": 1, "name": "c"})

    result = maintain_table(spark, EXPIRING, table, now=NOW + timedelta(days=2))

    assert result.after.snapshots == 2
    tagged = spark.sql(f"SELECT name FROM {table} VERSION AS OF 'quarter'").collect()
    first, second = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    changes = changes_between(spark, table, first, second).collect()
    assert [row["name"] for row in (*tagged, *changes)] == ["a", "b"]


def test_orphans_are_old_and_unreferenced(load, assert_rows, table, spark):
    """iceberg #4194: files of a running job are removed; amoro #1959: statistics too."""
    load(1, {"id": 1, "name": "a"})
    load(2, {"id": 1, "name": "b"})
    spark.sql(f"CALL lake.system.compute_table_stats(table => '{table[5:]}')").collect()
    known = spark.sql(f"SELECT file_path FROM {table}.files").first()
    data = Path(known["file_path"].removeprefix("file:")).parents[1]
    (statistics,) = (data.parent / "metadata").glob("*.stats")
    orphan, in_progress = data / "orphan.parquet", data / "under_way.parquet"
    for file in (orphan, in_progress):
        file.write_text("")
    month_ago = (NOW - timedelta(days=30)).timestamp()
    for file in data.parent.rglob("*.*"):
        if file != in_progress:
            os.utime(file, (month_ago, month_ago))

    maintain_table(spark, EXPIRING, table, now=NOW + timedelta(days=2))

    assert [file.exists() for file in (orphan, in_progress, statistics)] == [False, True, True]
    assert_rows((1, "a", 1, 2, False), (1, "b", 2, None, True), columns="id, name")


def test_many_manifests_become_few(load, rows, table, spark, tuned):
    """iceberg #7325, #8932, #9615, #15467: slow, and not sorted by partition."""
    load(1, {"id": 1, "name": "a"})
    load(2, {"id": 1, "name": "b"})
    tuned(many_manifests=1)
    before = rows()

    result = maintain_table(spark, EXPIRING, table, now=NOW)

    assert result.actions == ("rewrite_manifests",)
    assert result.after.manifests < result.before.manifests
    assert rows() == before


def test_a_merge_during_compaction_wins_and_compaction_is_planned_again(
    load, assert_rows, table, spark
):
    """The merge deletes a row of a file that compaction is about to replace."""
    _load_four_days(load)
    merged = []

    def merge():
        if not merged:
            merged.append(load(5, {"id": 1, "name": "z"}, {"id": 2, "name": "y"}))

    with before_scans(spark, table, merge):
        result = maintain_table(spark, EAGER, table, now=NOW)

    assert merged[0].committed
    assert result.actions == ("rewrite_data_files",)
    assert (result.after.small_files, result.after.delete_files) == (1, 0)
    assert_rows(
        (1, "x", 1, 2, False),
        (1, "xx", 2, 3, False),
        (1, "xxx", 3, 4, False),
        (1, "xxxx", 4, 5, False),
        (1, "z", 5, None, True),
        (2, "y", 1, None, True),
        columns="id, name",
    )


def dangling_deletes(run, table):
    """Compaction replaces three small files, and their delete files stay behind a large one."""
    for first in (10_000, 20_000, 30_000):
        run(f"INSERT INTO {table} SELECT {first} + id, 'x' FROM range(4)")
    run(f"DELETE FROM {table} WHERE id >= 10000 AND id % 2 = 0")


def deletes_that_compaction_leaves(run, table):
    """Three delete files take three rows of a thousand, by lists that are not joined."""
    run(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.delete.granularity' = 'partition')")
    for key in (1, 2, 3):
        run(f"DELETE FROM {table} WHERE id = {key}")


def tagged_snapshots(run, table):
    for name in ("one", "two", "three", "four"):
        run(f"ALTER TABLE {table} CREATE TAG {name}")
        run(f"INSERT INTO {table} SELECT 1, '{name}'")


def branches_of_a_killed_merge(run, table):
    run(f"ALTER TABLE {table} CREATE BRANCH lakekit_a")
    run(f"ALTER TABLE {table} CREATE BRANCH work_lakekit_a_1")
    run(f"INSERT INTO {table}.branch_work_lakekit_a_1 SELECT 1, 'x'")
    run(f"INSERT INTO {table} SELECT 1, 'x'")


def deletes_of_scans(spark, table):
    """Return the delete files that Iceberg reads with the data files of a table."""
    tasks = load_table(spark, table).newScan().planFiles().iterator()
    found = set()
    while tasks.hasNext():
        found |= {file.location() for file in tasks.next().deletes()}
    return found


@pytest.mark.parametrize(
    "happens",
    [
        dangling_deletes,
        deletes_that_compaction_leaves,
        tagged_snapshots,
        long(branches_of_a_killed_merge),
    ],
)
def test_a_second_maintenance_does_nothing(spark, table, happens):
    """Of tags and branches already the first one; no action can change what they keep."""
    cured = "deletes" in happens.__name__
    contract = COMPACTING if cured else EXPIRING
    spark.sql(
        f"CREATE TABLE {table} (id int, name string) USING iceberg TBLPROPERTIES ("
        "'write.delete.mode' = 'merge-on-read', 'write.target-file-size-bytes' = '20000')"
    )
    spark.sql(f"INSERT INTO {table} SELECT id, uuid() FROM range(1000)")
    happens(spark.sql, table)
    later = NOW + timedelta(days=2)
    assert wants_maintenance(spark, contract, table, now=later) is cured

    done = [maintain_table(spark, contract, table, now=later) for _ in range(2)]

    assert [each.actions for each in done] == [("rewrite_data_files",) if cured else (), ()]
    assert cured or done[0].before.expirable == 0
    assert done[0].after.delete_files == len(deletes_of_scans(spark, table))


@pytest.mark.long
def test_maintenance_gives_up_if_others_write_all_the_while(load, rows, table, spark, tuned):
    tuned(maintenance_attempts=2)
    _load_four_days(load)
    days = iter(range(5, 28))

    def merge():
        day = next(days)
        load(day, {"id": 1, "name": "x" * day}, {"id": 2, "name": "y"})

    with (
        before_scans(spark, table, merge),
        pytest.raises(CommitConflictError, match=r"others wrote 2 times during maintenance"),
    ):
        maintain_table(spark, EAGER, table, now=NOW)

    assert next(days) == 7
    assert [row[:3] for row in rows("id, name") if row[-1]] == [(1, "x" * 6, 6), (2, "y", 1)]


@pytest.mark.long
def test_what_is_no_conflict_fails_maintenance_as_it_is(load, table, spark):
    _load_four_days(load)
    file = spark.sql(f"SELECT file_path FROM {table}.files WHERE content = 0").first()
    Path(file["file_path"].removeprefix("file:")).unlink()

    with pytest.raises((Py4JJavaError, PySparkException), match="does not exist"):
        maintain_table(spark, EAGER, table, now=NOW)


@pytest.mark.long
def test_a_table_that_keeps_its_files_is_only_compacted(load, table, spark):
    _load_four_days(load)
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('gc.enabled' = 'false')")

    result = maintain_table(spark, EAGER, table, now=NOW + timedelta(days=30))

    assert result.actions == ("rewrite_data_files",)
