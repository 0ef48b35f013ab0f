"""Columns that are added to a table: earlier records say nothing about them."""

import pytest

from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.people import people

ZIP = people(columns={"zip": "string"})
ZIP_AND_FAX = people(columns={"zip": "string", "fax": "string"})


@pytest.mark.long
def test_until_when_a_column_was_not_known_is_recorded_for_each(load, assert_rows, spark, table):
    both, one = ZIP_AND_FAX, ZIP
    load(1, {"id": 1, "name": "a"}, extract="incremental")
    create_or_evolve(spark, one, table)
    load(3, {"id": 1, "name": "b"}, {"id": 2, "name": "c"}, extract="incremental", contract=one)
    create_or_evolve(spark, both, table)

    records = {"id": 1, "name": "b", "zip": "2", "fax": "1"}, {"id": 2, "name": "c", "fax": "1"}
    done = load(4, *records, extract="incremental", contract=both)

    assert (done.opened, done.unchanged) == (1, 1)
    assert_rows(
        (1, "a", None, None, 1, 3, False),
        (1, "b", None, None, 3, 4, False),
        (1, "b", "2", "1", 4, None, True),
        (2, "c", None, "1", 3, None, True),
        columns="id, name, zip, fax",
    )
