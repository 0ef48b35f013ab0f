"""A column is read from any field of a record: by name, by path, whole and in part."""

import json

import pytest

from tests.spark.support.people import people

UNREADABLE = "does not parse as the contract's schema"
CONTRACT = people(
    base={},
    columns={
        "id": {"type": "int", "from": "$.data.id"},
        "name": {"type": "string", "from": "first name"},
        "city": {"type": "string", "from": "$.data['home.town']['`city`']"},
        "said": {"type": "string", "from": "$['it\\'s \"ö\" $']"},
        "seen": {"type": "timestamp", "from": "$.data.seen"},
        "price": {"type": "decimal(4,2)", "from": "$.data.Price"},
        "data": "struct<id: int, tags: array<string>>",
        "id_text": {"type": "string", "from": "$.data.id"},
        "lower": {"type": "int", "from": "$.data.price"},
        "deleted": {"type": "string", "from": "__deleted"},
    },
    quality={"max_rejected_ratio": 1},
)  # fmt: skip
WHOLE = {
    "first name": "Ann", 'it\'s "ö" $': "hi", "__deleted": "no", "name": "not this one",
    "data": {
        "id": 1, "home.town": {"`city`": "Oslo"}, "seen": 1767225600, "Price": 1.25, "price": 7,
        "tags": ["a"],
    },
}  # fmt: skip
FAULTS = {
    '{"data":"x"}': "data: does not fit struct<id:int,tags:array<string>>; $.data: is no object",
    '{"data":{"id":2,"home.town":[1]}}': "$.data['home.town']: is no object",
    '{"data":{"id":3,"home.town":"{}"}}': "$.data['home.town']: is no object",
    '{"data":{"id":"x"}}': "id: does not fit int; data.id: does not fit int",
    '{"data":{"id":5,"Price":1.234}}': "price: does not fit decimal(4,2)",
    '{"data":{"id":6,"seen":"1767225600"}}': "seen: does not fit timestamp",
    '{"data":{"id":7,"price":"x"}}': "lower: does not fit int",
    '{"id":8}': "id: required, but null",
    '{"data":null}': "id: required, but null",
    '{"data":{"id":10}} {}': UNREADABLE,
}


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
