"""Another run while one records for which added columns a full extract ended the backfill.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

from functools import partial

import pytest
from pyspark.errors import PySparkException

from lakekit.errors import CommitConflictError
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.sql.tables import set_properties
from lakekit.table_properties import LINE_DIGESTS, LineDigestsProperty
from tests.spark.support.added_columns import with_zip
from tests.spark.support.late import SCOPED, at, cdc, load_as
from tests.spark.support.people import renamed
from tests.spark.support.seams import after, around
from tests.tiers import long

ZIP_SCOPED = with_zip(delete_scope=["seen"])
BOX_SCOPED = cdc(
    columns={"zip": "string", "box": "string"},
    delete_scope=["seen"],
    track_history_columns=["name", "zip", "box"],
)
RENAMED = cdc(
    columns={"code": renamed("zip"), "box": "string"},
    delete_scope=["seen"],
    track_history_columns=["name", "code", "box"],
)
FIRST, SECOND = at(1, "a", seen=1), at(1, "b", id=2, seen=2)


@pytest.fixture
def grown(load, spark, table):
    load_as(load, "full", 2, FIRST, SECOND, contract=SCOPED)
    create_or_evolve(spark, ZIP_SCOPED, table)


@pytest.fixture
def whenever(monkeypatch):
    """Let something happen after each call of a step, so many times."""
    return partial(after, monkeypatch)


@pytest.fixture
def whenever_it_is_recorded(whenever):
    """Let something happen after a run has read which columns are backfilled, so many times."""
    return partial(whenever, "backfilled")


@pytest.fixture(autouse=True)
def no_one_waits(monkeypatch):
    around(monkeypatch, "wait", lambda *_: None)


@pytest.fixture
def whenever_it_is_looked_at(whenever):
    """Let something happen after a table that is to evolve is described, so many times."""
    return partial(whenever, "describe table")


@pytest.mark.long
@pytest.mark.usefixtures("grown")
def test_two_full_extracts_of_different_scopes_have_both_recorded(
    load, rows, whenever_it_is_recorded
):
    whenever_it_is_recorded(lambda: load_as(load, "full", 6, SECOND, contract=ZIP_SCOPED), times=1)
    load_as(load, "full", 4, FIRST, contract=ZIP_SCOPED)

    load_as(load, "changes", 8, at(7, "a", zip="x", seen=1), contract=ZIP_SCOPED)

    assert rows("id, name, zip")[:2] == [(1, "a", None, 1, 7, False), (1, "a", "x", 7, None, True)]


@pytest.mark.usefixtures("grown")
def test_a_run_that_fails_to_record_it_records_it_when_it_comes_again(
    load, rows, spark, table, whenever_it_is_recorded
):
    def touch():
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('touched' = '{len(touched)}')")
        touched.append(1)

    touched: list[int] = []
    both = [FIRST, SECOND]
    whenever_it_is_recorded(touch, times=10)
    with pytest.raises(CommitConflictError, match="run this again"):
        load_as(load, "full", 4, *both, contract=ZIP_SCOPED)
    load_as(load, "full", 4, *both, contract=ZIP_SCOPED)

    load_as(load, "changes", 8, at(7, "a", zip="x", seen=1), contract=ZIP_SCOPED)

    assert len(touched) == 10
    assert rows("id, name, zip")[:2] == [(1, "a", None, 1, 7, False), (1, "a", "x", 7, None, True)]


@pytest.mark.long
@pytest.mark.usefixtures("grown")
def test_what_a_full_extract_records_while_another_column_is_renamed_stays_recorded(
    load, rows, spark, table, whenever_it_is_looked_at
):
    both = [FIRST, SECOND]
    load_as(load, "full", 4, *both, contract=ZIP_SCOPED)
    create_or_evolve(spark, BOX_SCOPED, table)
    whenever_it_is_looked_at(lambda: load_as(load, "full", 6, *both, contract=BOX_SCOPED), times=1)
    done = create_or_evolve(spark, RENAMED, table)

    load_as(load, "changes", 8, at(7, "a", box="x", seen=1), contract=RENAMED)

    renamed = [change for change in done.changes if "RENAME COLUMN" in change]
    assert ["_journal" in change for change in renamed] == [True, False]
    assert rows("id, name, box")[:2] == [(1, "a", None, 1, 7, False), (1, "a", "x", 7, None, True)]


@pytest.mark.long
@pytest.mark.usefixtures("grown")
def test_a_table_whose_notes_others_change_all_the_while_is_left_alone(
    spark, table, whenever_it_is_looked_at
):
    def note():
        noted.append(1)
        changes = LINE_DIGESTS.write(LineDigestsProperty(schema_changes=10 + len(noted)))
        spark.sql(set_properties(table, changes))

    noted: list[int] = []
    whenever_it_is_looked_at(note, times=5)
    with pytest.raises(CommitConflictError, match="others"):
        create_or_evolve(spark, BOX_SCOPED, table)

    assert (len(noted), "box" in spark.table(table).columns) == (5, False)
    create_or_evolve(spark, BOX_SCOPED, table)
    assert "box" in spark.table(table).columns


@pytest.mark.usefixtures("grown")
@pytest.mark.parametrize(
    "first",
    [long("columns"), long("newest extract"), long("known properties"), "change properties"],
)
def test_what_is_recorded_of_a_column_that_another_added_meanwhile_stays_recorded(
    load, rows, spark, table, whenever, first
):
    """The first is done before the second reads the properties of the table, or sets them."""

    def add():
        create_or_evolve(spark, BOX_SCOPED, table)
        load_as(load, "full", 6, FIRST, SECOND, contract=BOX_SCOPED)

    whenever(first, add, times=1)
    create_or_evolve(spark, BOX_SCOPED, table)

    load_as(load, "changes", 8, at(7, "a", box="x", seen=1), contract=BOX_SCOPED)

    assert rows("id, name, box")[:2] == [(1, "a", None, 1, 7, False), (1, "a", "x", 7, None, True)]


@pytest.mark.long
def test_two_that_rename_the_same_column_at_once_have_both_done_it(
    load, rows, spark, table, grown, whenever
):
    create_or_evolve(spark, BOX_SCOPED, table)
    whenever("change properties", lambda: create_or_evolve(spark, RENAMED, table), times=1)

    create_or_evolve(spark, RENAMED, table)

    assert {"code", "zip"} & {*spark.table(table).columns} == {"code"}


@pytest.mark.usefixtures("grown")
def test_a_statement_that_fails_and_that_no_one_has_run_fails(spark, table, monkeypatch):
    wrong = [f"ALTER TABLE {table} DROP COLUMN nowhere"]
    around(monkeypatch, "statements", lambda *_: wrong)

    with pytest.raises(PySparkException, match="nowhere"):
        create_or_evolve(spark, ZIP_SCOPED, table)
