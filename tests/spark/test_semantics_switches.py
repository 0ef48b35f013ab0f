"""Late changes that come after a contract has changed: they leave what was known before as it was.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

import pytest

from lakekit.errors import SchemaMismatchError
from lakekit.spark.tables import create_or_evolve
from tests.spark.test_semantics_late import at, gone, told, with_history

WHOLE = with_history("mode: scd2")
PARTIAL = with_history("ignore_null_updates: true")


@pytest.mark.parametrize("options", ["", "ignore_null_updates: true, "])
def test_a_deletion_that_a_record_of_its_moment_beat_in_scd1_stays_beaten(
    load, rows, spark, table, options
):
    before, after = with_history(f"{options}mode: scd1"), with_history(f"{options}mode: scd2")
    told(load, "changes", 4, gone(5), promise=before)
    told(load, "changes", 6, at(5, "a"), promise=before)
    create_or_evolve(spark, after, table)

    told(load, "changes", 7, at(3, "c"), promise=after)

    assert rows("id, name") == [(1, "c", 3, 5, False), (1, "a", 5, None, True)]


@pytest.mark.parametrize("first", [WHOLE, PARTIAL], ids=["whole", "partial"])
def test_a_table_whose_companion_holds_other_records_stays_as_it_is(
    load, rows, spark, table, first
):
    then = WHOLE if first is PARTIAL else PARTIAL
    told(load, "changes", 4, gone(5), promise=first)
    told(load, "changes", 6, at(5, "a"), promise=first)

    with pytest.raises(SchemaMismatchError, match="ignore_null_updates: "):
        create_or_evolve(spark, then, table)
    with pytest.raises(SchemaMismatchError, match="ignore_null_updates: "):
        told(load, "changes", 7, at(3, "c"), promise=then)

    assert rows("id, name") == [(1, "a", 5, None, True)]
