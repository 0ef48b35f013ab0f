"""Another run while one tells its table which later columns a full extract has filled.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

import pytest

from lakekit.contracts import load_contract
from lakekit.errors import CommitConflictError
from lakekit.spark import filled
from lakekit.spark.tables import create_or_evolve
from tests.spark.late import SCOPED, at, told
from tests.spark.later_columns import GROWN

ZIP_SCOPED = load_contract(GROWN.replace("keys: [id]", "keys: [id], delete_scope: [seen]"))
FIRST, SECOND = at(1, "a", seen=1), at(1, "b", id=2, seen=2)


@pytest.fixture
def grown(load, spark, table):
    told(load, "full", 2, FIRST, SECOND, promise=SCOPED)
    create_or_evolve(spark, ZIP_SCOPED, table)


@pytest.fixture
def whenever_it_is_told(monkeypatch):
    """Let something happen after a run has looked at what its table knows, so many times."""

    def let(event, times):
        real, met = filled.told_by_full, []

        def told_by_full(*arguments, **options):
            known = real(*arguments, **options)
            if len(met) < times:
                met.append(1)
                event()
            return known

        monkeypatch.setattr(filled, "told_by_full", told_by_full)

    return let


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
