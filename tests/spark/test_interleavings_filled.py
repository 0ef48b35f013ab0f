"""Another run while one tells its table which later columns a full extract has filled.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

from functools import partial

import pytest
from pyspark.errors import PySparkException

from lakekit.contract.contract import load_contract
from lakekit.errors import CommitConflictError
from lakekit.spark import backfill as filled
from lakekit.spark.schema import create_tables as tables
from lakekit.spark.schema import describe as described
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.late import SCOPED, at, told
from tests.spark.later_columns import GROWN
from tests.spark.later_columns import grown as with_columns

IN_SCOPES = GROWN.replace("keys: [id]", "keys: [id], delete_scope: [seen]")
ZIP_SCOPED = load_contract(IN_SCOPES)
BOX_SCOPED = load_contract(
    with_columns(IN_SCOPES, "box").replace("[name, zip]", "[name, zip, box]")
)
RENAMED = load_contract(
    with_columns(IN_SCOPES, "box")
    .replace("[name, zip]", "[name, code, box]")
    .replace("{name: zip, type: string}", "{name: code, type: string, renamed_from: zip}")
)
FIRST, SECOND = at(1, "a", seen=1), at(1, "b", id=2, seen=2)


@pytest.fixture
def grown(load, spark, table):
    told(load, "full", 2, FIRST, SECOND, promise=SCOPED)
    create_or_evolve(spark, ZIP_SCOPED, table)


@pytest.fixture
def whenever(monkeypatch):
    """Let something happen after each call of a function, so many times."""

    def let(module, name, event, times):
        real, met = getattr(module, name), []

        def calling(*arguments, **options):
            known = real(*arguments, **options)
            if len(met) < times:
                met.append(1)
                event()
            return known

        monkeypatch.setattr(module, name, calling)

    return let


@pytest.fixture
def whenever_it_is_told(whenever):
    """Let something happen after a run has looked at what its table knows, so many times."""
    return partial(whenever, filled, "told_by_full")


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch):
    monkeypatch.setattr(tables, "sleep", lambda seconds: None)


@pytest.fixture
def whenever_it_is_looked_at(whenever):
    """Let something happen after a table is described that is to evolve, so many times."""
    return partial(whenever, tables, "describe_table")


@pytest.mark.usefixtures("grown")
def test_two_full_extracts_of_different_scopes_have_both_told(load, rows, whenever_it_is_told):
    whenever_it_is_told(lambda: told(load, "full", 6, SECOND, promise=ZIP_SCOPED), times=1)
    told(load, "full", 4, FIRST, promise=ZIP_SCOPED)

    told(load, "changes", 8, at(7, "a", zip="x", seen=1), promise=ZIP_SCOPED)

    assert rows("id, name, zip")[:2] == [(1, "a", None, 1, 7, False), (1, "a", "x", 7, None, True)]


@pytest.mark.usefixtures("grown")
def test_a_run_that_never_comes_to_tell_it_tells_it_when_it_comes_again(
    load, rows, spark, table, whenever_it_is_told
):
    def touch():
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('touched' = '{len(touched)}')")
        touched.append(1)

    touched: list[int] = []
    both = [FIRST, SECOND]
    whenever_it_is_told(touch, times=10)
    with pytest.raises(CommitConflictError, match="come again"):
        told(load, "full", 4, *both, promise=ZIP_SCOPED)
    told(load, "full", 4, *both, promise=ZIP_SCOPED)

    told(load, "changes", 8, at(7, "a", zip="x", seen=1), promise=ZIP_SCOPED)

    assert len(touched) == 10
    assert rows("id, name, zip")[:2] == [(1, "a", None, 1, 7, False), (1, "a", "x", 7, None, True)]


@pytest.mark.usefixtures("grown")
def test_what_a_full_extract_tells_while_another_column_is_renamed_stays_told(
    load, rows, spark, table, whenever_it_is_looked_at
):
    both = [FIRST, SECOND]
    told(load, "full", 4, *both, promise=ZIP_SCOPED)
    create_or_evolve(spark, BOX_SCOPED, table)
    whenever_it_is_looked_at(lambda: told(load, "full", 6, *both, promise=BOX_SCOPED), times=1)
    done = create_or_evolve(spark, RENAMED, table)

    told(load, "changes", 8, at(7, "a", box="x", seen=1), promise=RENAMED)

    renamed = [change for change in done.changes if "RENAME COLUMN" in change]
    assert ["_facts" in change for change in renamed] == [True, False]
    assert rows("id, name, box")[:2] == [(1, "a", None, 1, 7, False), (1, "a", "x", 7, None, True)]


@pytest.mark.usefixtures("grown")
def test_a_table_whose_notes_others_change_all_the_while_is_left_alone(
    spark, table, whenever_it_is_looked_at
):
    def note():
        noted.append(1)
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('lakekit.evolved' = '1{len(noted)}')")

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
    [
        (tables, "columns_of"),
        (tables, "newest_told"),
        (described, "known_properties"),
        (tables, "change_properties"),
    ],
    ids=lambda first: first[1],
)
def test_what_is_told_of_a_column_that_another_added_meanwhile_stays_told(
    load, rows, spark, table, whenever, first
):
    """Before the second looks at what the table knows, or sets it, the first is through."""

    def add():
        create_or_evolve(spark, BOX_SCOPED, table)
        told(load, "full", 6, FIRST, SECOND, promise=BOX_SCOPED)

    whenever(*first, add, times=1)
    create_or_evolve(spark, BOX_SCOPED, table)

    told(load, "changes", 8, at(7, "a", box="x", seen=1), promise=BOX_SCOPED)

    assert rows("id, name, box")[:2] == [(1, "a", None, 1, 7, False), (1, "a", "x", 7, None, True)]


def test_two_that_rename_the_same_column_at_once_have_both_done_it(
    load, rows, spark, table, grown, whenever
):
    create_or_evolve(spark, BOX_SCOPED, table)
    whenever(tables, "change_properties", lambda: create_or_evolve(spark, RENAMED, table), times=1)

    create_or_evolve(spark, RENAMED, table)

    assert {"code", "zip"} & {*spark.table(table).columns} == {"code"}


@pytest.mark.usefixtures("grown")
def test_a_statement_that_fails_and_that_nobody_has_run_fails(spark, table, monkeypatch):
    wrong = [f"ALTER TABLE {table} DROP COLUMN nowhere"]
    monkeypatch.setattr(tables, "_evolve_schema", lambda *_: wrong)

    with pytest.raises(PySparkException, match="nowhere"):
        create_or_evolve(spark, ZIP_SCOPED, table)
