"""The change files of the time zones: what they hold, their contract, how they were derived."""

import json
from functools import cache

import pytest

from examples.time_zones import derive
from lakekit.contract.contract import load_contract
from tests.docs.pages import ROOT, read
from tests.model.terms import Record

EXAMPLE = ROOT / "examples/time_zones"
README = read(EXAMPLE / "README.md")
RELEASES = {release: time for release, _, time in derive.RELEASES}
NAMES = (*RELEASES, "correction")
each_file = pytest.mark.parametrize("name", NAMES)


@cache
def records(name: str) -> list[Record]:
    lines = (EXAMPLE / f"data/{name}.ndjson").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_there_is_a_file_for_each_release_and_the_correction() -> None:
    assert {path.name for path in (EXAMPLE / "data").iterdir()} == {f"{n}.ndjson" for n in NAMES}


@each_file
def test_the_records_fit_the_contract(name: str) -> None:
    contract = load_contract((EXAMPLE / "contract.yaml").read_text())
    columns = [column.name for column in contract.columns]
    keys = {"U": columns, "D": ["name", "released_at", "op"]}

    assert [list(record) for record in records(name)] == [keys[r["op"]] for r in records(name)]
    assert all(isinstance(v, str) for r in records(name) for k, v in r.items() if k != "comments")


@each_file
def test_all_records_of_a_release_have_its_time(name: str) -> None:
    time = RELEASES.get(name, RELEASES[derive.CORRECTION_OF])

    assert {record["released_at"] for record in records(name)} == {time}


@each_file
def test_the_page_counts_the_records_of_a_file(name: str) -> None:
    operations = [record["op"] for record in records(name)]
    day = records(name)[0]["released_at"][:10]

    assert f"| `{name}` | {day} | {operations.count('U')} | {operations.count('D')} |\n" in README


def test_a_release_changes_what_those_before_it_have_left() -> None:
    table: dict[str, Record] = {}
    for name in sorted(RELEASES):
        for record in records(name):
            before = table.pop(record["name"], {})
            assert before or record["op"] == "U"
            assert record != {**before, "released_at": record["released_at"]}
            if record["op"] == "U":
                table[record["name"]] = record

    assert len(table) == 312


def test_the_correction_is_what_a_later_release_says_at_the_time_of_the_first() -> None:
    (correction,) = records("correction")
    (later,) = [r for r in records(derive.CORRECTED_IN) if r["name"] == correction["name"]]
    (first,) = [r for r in records(derive.CORRECTION_OF) if r["name"] == correction["name"]]

    assert correction == {**later, "released_at": first["released_at"]}
    assert correction["coordinates"] != first["coordinates"]


def test_a_file_has_what_two_tables_differ_in() -> None:
    before = "# a comment\nCN\t+4348+08735\tUrumqi\tXinjiang Time\nAQ\t-7824+10654\tVostok\n"
    now = "CN,AQ\t+4348+08735\tUrumqi\tXinjiang Time\nUA\t+5026+03031\tKyiv\n"

    found = derive.changes(derive.read_zones(before), derive.read_zones(now), "T")

    assert list(found) == [
        {
            "name": "Kyiv", "countries": "UA", "coordinates": "+5026+03031", "comments": None,
            "released_at": "T", "op": "U",
        },
        {
            "name": "Urumqi", "countries": "CN,AQ", "coordinates": "+4348+08735",
            "comments": "Xinjiang Time", "released_at": "T", "op": "U",
        },
        {"name": "Vostok", "released_at": "T", "op": "D"},
    ]  # fmt: skip
