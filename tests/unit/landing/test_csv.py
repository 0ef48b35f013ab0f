import io
import json
from typing import Any

import pytest

from lakekit.contract.contract import Column
from lakekit.errors import SourceShapeError
from lakekit.landing.csv import csv_records
from tests.unit.runs.kit import contract


def convert(body: bytes, **types: str) -> list[Any]:
    columns = tuple(Column(name=name, type=kind) for name, kind in types.items())
    texts = csv_records(io.BytesIO(body), contract(columns=columns))
    return [json.loads(text, parse_float=str, parse_int=str) for text in texts]


@pytest.mark.parametrize(
    ("kind", "cell", "value"),
    [
        ("bigint", "12", "12"),
        ("bigint", "007", "7"),
        ("bigint", " 7 ", "7"),
        ("bigint", "x", "x"),
        ("bigint", "1_000", "1_000"),
        ("decimal(38,10)", "12345678901234567890.10", "12345678901234567890.10"),
        ("double", ".5", "0.5"),
        ("double", "+1e3", "1E+3"),
        ("double", "NaN", "NaN"),
        ("boolean", "TRUE", True),
        ("boolean", "yes", "yes"),
        ("string", "12", "12"),
        ("string", "", None),
        ("bigint", "", None),
        ("date", "2026-01-01", "2026-01-01"),
        ("array<int>", '"[1, 2]"', ["1", "2"]),
        ("array<int>", "[1", "[1"),
    ],
)
def test_gives_a_cell_the_type_of_its_column(kind: str, cell: str, value: Any) -> None:
    assert convert(f"id,a\n1,{cell}\n".encode(), id="bigint", a=kind) == [{"id": "1", "a": value}]


def test_keeps_columns_that_the_contract_lacks_as_text() -> None:
    assert convert(b"id,colour\n1,5\n", id="bigint") == [{"id": "1", "colour": "5"}]


def test_reads_quotes_line_breaks_and_a_byte_order_mark() -> None:
    body = b'\xef\xbb\xbfid,a\r\n1,"x, ""y""\nz"\r\n\r\n2,b\r\n'

    assert convert(body, id="string", a="string") == [
        {"id": "1", "a": 'x, "y"\nz'},
        {"id": "2", "a": "b"},
    ]


def test_never_breaks_a_line_inside_a_record() -> None:
    nested = contract(columns=(Column(name="a", type="struct<x: int>"),))
    for chosen, cell in ((contract(), b"x\ny"), (nested, b'{""x"":\n1.10}')):
        (text,) = csv_records(io.BytesIO(b'id,a\n1,"' + cell + b'"\n'), chosen)

        assert b"\n" not in text

    assert text == b'{"id":"1","a":{"x":1.10}}'


@pytest.mark.parametrize("row", [b"1", b"1,2,3", b"1,\xff"])
def test_a_row_that_does_not_fit_becomes_an_array_that_no_schema_takes(row: bytes) -> None:
    (found,) = convert(b"id,a\n" + row + b"\n", id="bigint", a="string")

    assert isinstance(found, list)


def test_a_cell_may_be_as_long_as_a_text_in_a_line_that_spark_reads() -> None:
    assert convert(b"id,a\n1," + b"x" * 200_000, id="string", a="string")[0]["a"] == "x" * 200_000


@pytest.mark.parametrize("body", [b"a,a\n1,2\n", b'a\n"x\n', b'a\n"x"y\n'])
def test_refuses_what_is_no_csv(body: bytes) -> None:
    with pytest.raises(SourceShapeError):
        convert(body)


def test_an_empty_file_has_no_records() -> None:
    assert convert(b"") == []
