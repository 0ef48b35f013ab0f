"""A column is read from any field of a record: by name, by path, whole and in part."""

import json

import pytest

from tests.landed_lines import OF_PATHS as CONTRACT
from tests.landed_lines import OF_PATHS_FAULTS as FAULTS
from tests.landed_lines import WHOLE
from tests.spark.support.people import people


def test_a_column_is_read_from_the_field_that_it_names(load, spark, table):
    done = load(1, WHOLE, {"data": {"id": 2, "home.town": None}}, *FAULTS, contract=CONTRACT)

    names = "id, name, city, said, CAST(seen AS string) seen, price, data.tags, id_text, lower"
    found = spark.sql(f"SELECT {names}, deleted FROM {table} ORDER BY id").toJSON().collect()
    assert [json.loads(row) for row in found] == [
        {
            "id": 1, "name": "Ann", "city": "Oslo", "said": "hi", "seen": "2026-01-01 00:00:00",
            "price": 1.25, "tags": ["a"], "id_text": "1", "lower": 7, "deleted": "no",
        },
        {"id": 2, "id_text": "2"},
    ]  # fmt: skip
    rejected = spark.sql(f"SELECT _raw, _fault FROM {table}_quarantine").collect()
    assert dict(map(tuple, rejected)) == FAULTS
    assert (done.opened, done.quarantined) == (2, len(FAULTS))


@pytest.mark.long
def test_a_record_without_a_field_on_the_path_leaves_its_value(load, spark, table):
    partial = people(
        columns={"city": {"type": "string", "from": "$.home.city"}}, ignore_null_updates=True
    )
    load(1, {"id": 1, "name": "Ann", "home": {"city": "Oslo"}}, contract=partial, extract="changes")

    load(2, {"id": 1, "name": "Anne", "home": {}}, contract=partial, extract="changes")

    found = spark.sql(f"SELECT name, city FROM {table} WHERE _is_current").collect()
    assert list(map(tuple, found)) == [("Anne", "Oslo")]
