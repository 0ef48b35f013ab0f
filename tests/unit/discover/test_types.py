"""Which type is proposed for a field, and what is said of it."""

import json
from typing import Any

import pytest

from lakekit.discover.types import guess_type
from lakekit.records.json_values import parsed


def guess(name: str, *values: str, are_texts: bool = False) -> tuple[str, str]:
    found = guess_type([parsed(each.encode()) for each in values], name, are_texts=are_texts)
    return (str(found.type), found.saw) if found else ("", "")


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("n", ["1", "-5", "null"], "bigint"),
        ("n", ["9223372036854775808"], "decimal(38,0)"),
        ("n", ["1", "1.5"], "double"),
        ("n", ["1e400"], ""),
        ("n", ["0.12345678901234567891"], "decimal(30,20)"),
        ("price", ["1.5", "2"], "decimal(18,2)"),
        ("price", ["1.2345"], "decimal(18,4)"),
        ("created", ["1767225600"], "timestamp"),
        ("number", ["1767225600"], "bigint"),
        ("created_at", ["1767225600000"], "bigint"),
        ("day", ['"2026-01-31"', "null"], "date"),
        ("day", ['"2026-02-30"'], "string"),
        ("at", ['"2026-01-31T06:30:00"'], "timestamp_ntz"),
        ("at", ['"2026-01-31T06:30:00Z"', '"2026-01-31"'], "timestamp"),
        ("at", ['"2026-01-31T06:30:00Z"', '""'], "string"),
        ("version", ['"1.10"', '"1.9"'], "string"),
        ("total", ['"1.10"', '"19.9"'], "decimal(18,2)"),
        ("x", ["true", "null"], "boolean"),
        ("x", ["true", "1"], "string"),
        ("x", ["null"], "string"),
        ("x", ["[]", "[1]"], "array<bigint>"),
        ("x", ["[]"], "array<string>"),
        ("x", ['[1,"a"]'], "array<string>"),
        ("x", ["{}"], "map<string,string>"),
        ("x", ['{"a":1,"b":{"c":"x"}}', '{"a":null}'], "struct<a:bigint,b:struct<c:string>>"),
        ("x", ['{"a":1,"A":2}'], "string"),
        ("x", ['{"1":2,"17":null}'], "map<string,bigint>"),
        ("x", ['{"a b":1}'], "struct<`a b`:bigint>"),
        ("x", ['{"a":1e400}'], "string"),
    ],
)
def test_the_narrowest_type_that_keeps_all_values(name: str, values: list[str], kind: str) -> None:
    assert guess(name, *values)[0] == kind


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["1", '"a"'], "values of several kinds: number, text"),
        (['"2026-01-31"', '"2026-01-30"', '""'], "1 of 3 are not, such as empty texts"),
        (["0.12345678901234567891"], "20 digits, more than a double keeps"),
        (["9223372036854775808"], "numbers beyond a bigint"),
        (["null"], "null, absent or empty in every record seen"),
    ],
)
def test_what_does_not_fit_is_said(values: list[str], said: str) -> None:
    assert said in guess("x", *values)[1]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "", "22"], "bigint"),
        (["007", "12"], "string"),
        (["1.5", "2"], "double"),
        (["true", "FALSE"], "boolean"),
        (["2026-01-31", ""], "date"),
        (["n/a", "1"], "string"),
    ],
)
def test_cells_of_csv_are_read_as_what_they_say(cells: list[Any], kind: str) -> None:
    assert guess("x", *map(json.dumps, cells), are_texts=True)[0] == kind
