"""Lines are read without Spark as the merge reads them: the same tables hold for both."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from lakekit.contract.contract import Contract
from lakekit.records.json_values import java_double
from lakekit.records.reader import read_record
from tests.landed_lines import OF_PATHS, OF_PATHS_FAULTS, OF_TYPES, OF_TYPES_FAULTS
from tests.landed_values import KINDS, RIGHT, WRONG
from tests.spark.support.people import people

ALL = people(base={"id": "int", **KINDS}, quality={"max_rejected_ratio": 1})
PRICED = people(columns={"name": "decimal(10,2)"})


def spark_text(value: Any) -> str:
    """Return a value as Spark's cast to a text shows it."""
    if isinstance(value, dict):
        is_map = all(isinstance(key, str) and key not in ("10:30", "at") for key in value)
        parts = [f"{key} -> {spark_text(each)}" if is_map else spark_text(each)
                 for key, each in value.items()]  # fmt: skip
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(spark_text, value))}]"
    if isinstance(value, datetime):
        text = value.isoformat(" ")
        return text.rstrip("0") if value.microsecond else text
    if isinstance(value, float):
        return java_double(value)
    return "null" if value is None else str(value)


@pytest.mark.parametrize("name", WRONG)
def test_a_value_that_does_not_fit_is_rejected_as_the_merge_rejects_it(name: str) -> None:
    lines = [f'{{"id":1,"{name}":{text}}}' for text in WRONG[name]]

    found = {line: read_record(line.encode(), ALL).fault for line in lines}

    assert found == dict.fromkeys(lines, f"{name}: does not fit {ALL.column(name).type}")


@pytest.mark.parametrize("name", RIGHT)
def test_a_value_that_fits_is_the_one_that_the_merge_stores(name: str) -> None:
    records = {text: read_record(f'{{"id":1,"{name}":{text}}}'.encode(), ALL)
               for text in RIGHT[name]}  # fmt: skip

    assert {text: record.fault for text, record in records.items()} == dict.fromkeys(records)
    shown = {text: spark_text(record.values[name]) for text, record in records.items()}
    assert shown == RIGHT[name]


@pytest.mark.parametrize(
    ("contract", "faults"), [(OF_TYPES, OF_TYPES_FAULTS), (OF_PATHS, OF_PATHS_FAULTS)]
)
def test_the_reason_is_that_of_the_merge(contract: Contract, faults: dict[str, str]) -> None:
    assert {line: read_record(line.encode(), contract).fault for line in faults} == faults


def test_a_column_with_a_path_has_the_value_that_it_leads_to() -> None:
    line = b'{"data":{"id":1,"seen":"2026-01-01","price":7,"tags":["a"]},"__deleted":"no"}'

    found = read_record(line, OF_PATHS)

    assert found.fault is None
    assert found.values == {
        "id": 1, "name": None, "city": None, "said": None, "price": None, "id_text": "1",
        "seen": datetime.fromisoformat("2026-01-01T00:00:00"), "lower": 7, "deleted": "no",
        "data": {"id": 1, "tags": ["a"]},
    }  # fmt: skip


@pytest.mark.parametrize(
    "price",
    ['"12,50"', "1.234", "0.30000000000000004", '""', "1e20", "1.5e-2", '"x"', "123456789",
     '" 7.25 "', '"1e2"', '"1 000"', '"0x1"', "99999999.999", "-1e-20", '"+1"'],
)  # fmt: skip
def test_a_decimal_is_never_rounded(price: str) -> None:
    found = read_record(f'{{"id": 1, "name": {price}}}'.encode(), PRICED)

    assert found.fault == "name: does not fit decimal(10,2)"


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.5", "1.50"), ('"-1.50"', "-1.50"), ("2", "2.00"), ("1.50000", "1.50"), ("2.5e1", "25.00"),
     ("125E-1", "12.50"), ('"725E-2"', "7.25"), ("12345678.99", "12345678.99")],
)  # fmt: skip
def test_a_decimal_may_be_written_in_many_ways(text: str, value: str) -> None:
    found = read_record(f'{{"id": 1, "name": {text}}}'.encode(), PRICED)

    assert (found.fault, str(found.values["name"])) == (None, value)
    assert isinstance(found.values["name"], Decimal)


def test_a_day_is_a_date() -> None:
    found = read_record(b'{"id":1,"day":"2026-02-28"}', ALL)

    assert found.values["day"] == date(2026, 2, 28)
    assert type(found.values["day"]) is date
