import io
import json
from typing import Any

import pytest

from lakekit.contract.contract import Column
from lakekit.csv_records import csv_records
from lakekit.errors import SourceShapeError
from lakekit.json_text.lines import read_fields
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
        ("double", "-Infinity", "-Infinity"),
        ("double", "1e400", "1E+400"),
        ("double", "1e99999999999999999999", "1e99999999999999999999"),
        ("bigint", "\u0661\u0662", "\u0661\u0662"),
        ("boolean", "TRUE", True),
        ("boolean", "yes", "yes"),
        ("string", "12", "12"),
        ("string", "", None),
        ("bigint", "", None),
        ("date", "2026-01-01", "2026-01-01"),
        ("array<int>", '"[1, 2]"', ["1", "2"]),
        ("array<int>", "[1", "[1"),
        ("array<double>", "[1e400]", ["1e400"]),
        ("array<string>", "[NaN]", "[NaN]"),
        ("array<string>", "[" * 100_000, "[" * 100_000),
        ("map<string,string>", r'"{""a"":""\ud83d""}"', r'{"a":"\ud83d"}'),
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


@pytest.mark.parametrize(
    ("row", "array"),
    [
        (b"1", b'["1"]'),
        (b"1,2,3", b'["1", "2", "3"]'),
        (b"1,M\xfcller", b'["1", "M\xfcller"]'),
        (b'1,"a\n\xff\xc3\xbc\\xff"', b'["1", "a\\n\xff\xc3\xbc\\\\xff"]'),
    ],
)
def test_a_row_that_is_no_record_becomes_an_array_of_its_bytes(row: bytes, array: bytes) -> None:
    chosen = contract(columns=(Column(name="id", type="bigint"), Column(name="a", type="string")))

    assert list(csv_records(io.BytesIO(b"id,a\n" + row + b"\n"), chosen)) == [array]
    assert read_fields(array) is None


def test_a_cell_may_be_as_long_as_a_text_in_a_line_that_spark_reads() -> None:
    assert convert(b"id,a\n1," + b"x" * 200_000, id="string", a="string")[0]["a"] == "x" * 200_000


@pytest.mark.parametrize("body", [b"a,a\n1,2\n", b"a,\xfc\n1,2\n", b'a\n"x\n', b'a\n"x"y\n'])
def test_refuses_what_is_no_csv(body: bytes) -> None:
    with pytest.raises(SourceShapeError):
        convert(body)


def test_an_empty_file_has_no_records() -> None:
    assert convert(b"") == []
