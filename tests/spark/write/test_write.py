"""A small table: all its current versions are rewritten in one commit."""

import pytest

from tests.spark.support.people import ANN, BEN, people
from tests.spark.support.seams import crash_at_the_end_of
from tests.tiers import long

EVA = {"id": 3, "name": "Eva", "city": "Graz"}


@pytest.fixture(autouse=True)
def small_tables_are_overwritten(tuned):
    tuned(few_bytes=1 << 20)


def test_a_run_is_one_commit_without_delete_files(load, assert_rows, spark, table):
    load(1, ANN, BEN)
    load(2, {**ANN, "city": "Rome"}, BEN)
    done = load(3, {**ANN, "city": "Rome"}, EVA)

    kinds = [row[0] for row in spark.sql(f"SELECT content FROM {table}.all_files").collect()]
    (head,) = spark.sql(
        f"SELECT operation, summary['lakekit.run-id'] FROM {table}.snapshots "
        f"WHERE snapshot_id = {done.snapshot_id}"
    ).collect()
    assert set(kinds) == {0}
    assert spark.table(f"{table}.history").count() == 3
    assert tuple(head) == ("overwrite", "run-3")
    assert_rows(
        (1, "Ann", "Oslo", 1, 2, False),
        (1, "Ann", "Rome", 2, None, True),
        (2, "Ben", "Bonn", 1, 3, False),
        (3, "Eva", "Graz", 3, None, True),
    )


@pytest.mark.parametrize(("rewritten", "commits"), [long(1 << 20, 3), (-1, 4)])
def test_a_run_commits_its_branches_what_it_writes_and_mains_move(
    load, spark, table, tuned, rewritten, commits
):
    tuned(rewrite_bytes=rewritten)
    load(1, ANN, BEN)
    before = spark.table(f"{table}.metadata_log_entries").count()

    load(2, {**ANN, "city": "Rome"}, BEN)

    assert spark.table(f"{table}.metadata_log_entries").count() == before + commits


@pytest.mark.long
@pytest.mark.parametrize("limit", ["few_bytes", "rewrite_bytes"])
def test_only_a_small_table_of_few_bytes_is_rewritten(load, spark, table, tuned, limit):
    load(1, ANN, BEN)
    tuned(**{limit: 1})
    load(2, {**ANN, "city": "Rome"}, BEN)

    assert spark.sql(f"SELECT content FROM {table}.files WHERE content > 0").count() == 1


def test_a_small_table_of_more_bytes_is_rewritten_when_it_has_come_to_many_files(
    load, rows, spark, table, tuned
):
    tuned(rewrite_bytes=-1, rewrite_files=2)

    def files():
        current = f"SELECT content FROM {table}.files WHERE partition._is_current"
        return sorted(row[0] for row in spark.sql(current).collect())

    found = []
    for day, city in enumerate(["Oslo", "Rome", "Lima", "Bern", "Kyiv"], start=1):
        load(day, {**ANN, "city": city}, BEN)
        found.append(files())

    # The fourth run finds three files of rows; all rows of one of them are deleted.
    assert found == [[0], [0, 0, 1], [0, 0, 0, 1, 1], [0], [0, 0, 1]]
    assert [row[2] for row in rows()] == ["Oslo", "Rome", "Lima", "Bern", "Kyiv", "Bonn"]


@pytest.mark.parametrize(
    "phase", [long("branch"), long("journal"), "append", long("check"), long("fast-forward")]
)
def test_a_crash_leaves_what_was_there_and_the_run_comes_again(
    load, assert_rows, monkeypatch, phase
):
    load(1, ANN, BEN)
    with crash_at_the_end_of(monkeypatch, phase):
        load(2, {**ANN, "city": "Rome"}, BEN)
    load(2, {**ANN, "city": "Rome"}, BEN)

    assert_rows(
        (1, "Ann", "Oslo", 1, 2, False),
        (1, "Ann", "Rome", 2, None, True),
        (2, "Ben", "Bonn", 1, None, True),
    )


@pytest.mark.parametrize("options", [long({"mode": "scd1"}), {"track_history_columns": ["name"]}])
def test_a_version_that_is_rewritten_is_there_once(load, rows, options):
    renewed = people(**options)
    load(1, ANN, BEN, contract=renewed)
    load(2, {**ANN, "city": "Rome"}, BEN, contract=renewed)

    assert [row[:3] for row in rows()] == [(1, "Ann", "Rome"), (2, "Ben", "Bonn")]


def test_a_run_opens_few_manifests_however_many_came_before_it(load, spark, table, tuned):
    tuned(few_bytes=-1)
    for day in range(1, 9):
        load(day, {"id": 1, "name": f"Ann {day}"})

    # Each run has added two files, and one of deleted rows.
    assert spark.table(f"{table}.manifests").count() <= 16
