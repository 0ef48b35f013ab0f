"""The partition fields that a contract may have, and the faults of others."""

import pytest

from lakekit.contract.contract import load_contract
from tests.unit.contract.people import GOOD, faults


def partitioned(*fields: str) -> str:
    columns = (
        "{name: id, type: int}, {name: order, type: string}, {name: at, type: timestamp}, "
        "{name: price, type: double}, {name: tags, type: 'array<string>'}, {name: op, type: string}"
    )
    return (
        GOOD.replace("{name: id, type: int}, {name: order, type: string}", columns).replace(
            "keys: [id]", "keys: [id], except_columns: [op]"
        )
        + f"table: {{partition_by: {list(fields)}}}\n"
    )


@pytest.mark.parametrize(
    "field",
    ["id", "`order`", "price", "days(at)", "day(at)", "HOURS( at )", "years(`at`)", "month(at)",
     "bucket(16, id)", "bucket(id, 16)", "truncate(4, order)", "months(_valid_from)"],
)  # fmt: skip
def test_a_table_may_be_split_by_a_column_or_a_transform_of_iceberg(field):
    assert load_contract(partitioned(field)).table.partition_by == (field,)


@pytest.mark.parametrize(
    ("field", "fault"),
    [
        ("nope", "'nope' is not a stored column of the schema"),
        ("op", "'op' is not a stored column of the schema"),
        ("bucket(4, nope)", "'nope' is not a stored column of the schema"),
        ("tags", "'tags' is array<string>, which cannot split a table"),
        ("days(order)", "'order' is string; for days it must be one of date, timestamp, timesta"),
        ("bucket(4, price)", "'price' is double; for bucket it must be one of tinyint, smallint,"),
        *(
            (text, f"'{text}' is not a partition field; write a column, years(col), months(col), ")
            for text in ("week(at)", "bucket(id)", "bucket(0, id)", "days(2, at)", "id) USING x --",
                         "truncate(1, order, 2)", "", "a.b")
        ),
    ],
)  # fmt: skip
def test_refuses_a_partition_field_that_would_fail_in_the_table(field, fault):
    [line] = faults(partitioned(field))

    assert line.startswith(f"table.partition_by.0: {fault}")


def test_refuses_to_split_a_column_by_time_twice():
    assert faults(partitioned("days(at)", "years(at)")) == [
        "table.partition_by.1: 'years(at)' splits 'at' a second time; keep one of the two"
    ]


def test_reports_a_partition_field_with_a_wrong_key():
    assert faults(partitioned("nope", "x y").replace("keys: [id]", "keys: [missing]")) == [
        "history.keys: 'missing' is not a column of the schema",
        "table.partition_by.0: 'nope' is not a stored column of the schema",
        "table.partition_by.1: 'x y' is not a partition field; write a column, years(col), "
        "months(col), days(col), hours(col), bucket(n, col) or truncate(n, col)",
    ]
