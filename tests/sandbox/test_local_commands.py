"""The commands of the local warehouse, one after the other in one process: Spark starts once."""

import gzip
import json
import re
import subprocess
import sys

import pytest

CONTRACT = """
contract: people
source: people_api
endpoint: {path: /people, extract: changes}
schema:
  - {name: id, type: int}
  - {name: name, type: string}
  - {name: at, type: timestamp}
  - {name: op, type: string}
history:
  keys: [id]
  sequence_by: at
  apply_as_deletes: op = 'D'
  except_columns: [op]
"""
EVENTS = """
contract: events
source: people_api
endpoint: {path: /events}
schema: [{name: id, type: int}]
history: {mode: append, keys: [id]}
"""
TEXTS = """
contract: texts
description: Prices in ${currency}
source: people_api
endpoint: {path: /texts}
schema:
  - {name: k, type: string, description: "[b]${env:HOME}[/b]"}
  - {name: v, type: "struct<name: string, parts: array<double>, raw: binary>"}
history: {keys: [k]}
table: {properties: {team: "a${b}c"}}
"""
# Keys that something between the data and the screen might take for its own.
KEYS = ["${x}", "", "[draft] Plan", "see [/b] here", "\x1b[31mred", "null", "Zoë :smile:"]
VALUE = {"name": "Zoë", "parts": [1.5, None], "raw": "AP8="}
FIRST_AND_LAST = (
    "TIMESTAMPTZ '0001-01-01 00:00:00Z' AS at",
    "TIMESTAMPTZ '9999-12-31 23:59:59.999999Z' AS at",
)
SCRIPT = """
import json, sys
from contextlib import nullcontext
from unittest.mock import patch
from typer.testing import CliRunner
from lakekit.cli.arguments import take
from lakekit.cli.main import app
from lakekit.local.landing import Landing
from pathlib import Path

def crash_before_the_mark(*_):
    raise SystemExit("killed")

for line in json.load(sys.stdin):
    crash = nullcontext()
    if line[0] == "killed":
        line = line[1:]
        crash = patch.object(Landing, "mark_merged", crash_before_the_mark)
    with crash:
        done = CliRunner().invoke(app, take(line))
    known = Path(line[line.index("--warehouse") + 1]).exists()
    answer = {"code": done.exit_code, "out": done.stdout, "error": repr(done.exception)}
    print("answer", json.dumps({**answer, "known": known}))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict[str, dict]:
    """What each command said."""
    folder = tmp_path_factory.mktemp("commands")
    (folder / "people.yaml").write_text(CONTRACT)
    for day, records in {
        1: [person(1, "ann", 1), person(2, "ben", 1)],
        2: [person(1, "anna", 2), {**person(2, None, 2), "op": "D"}],
        3: [person(1, "anne", 3), "{oh"],
        4: [{**person(9, None, 4), "op": "D"}],
    }.items():
        lines = [each if isinstance(each, str) else json.dumps(each) for each in records]
        (folder / f"{day}.ndjson").write_text("".join(f"{line}\n" for line in lines))
    whole = gzip.compress((folder / "1.ndjson").read_bytes())
    (folder / "cut.ndjson.gz").write_bytes(whole[:-9])
    (folder / "keys.ndjson").write_text('{"id": 1}\n')
    (folder / "events.yaml").write_text(EVENTS)
    (folder / "texts.yaml").write_text(TEXTS)
    texts = [json.dumps({"k": key, "v": VALUE}) for key in KEYS]
    (folder / "texts.ndjson").write_text("".join(f"{text}\n" for text in texts))
    contract = ["--contract", str(folder / "people.yaml")]
    runs = {
        day: ["--input", str(folder / f"{day}.ndjson"), "--at", time(day)] for day in range(1, 5)
    }
    events = ["--contract", str(folder / "events.yaml"), *runs[1]]
    for name, old, new in (
        ("others", "contract: people", "contract: others"),
        ("wrong", "op = 'D'", "operation = 'D'"),
        ("partial", "keys: [id]", "keys: [id]\n  ignore_null_updates: true"),
    ):
        (folder / f"{name}.yaml").write_text(CONTRACT.replace(old, new))
    others = ["--contract", str(folder / "others.yaml")]
    wrong = ["--contract", str(folder / "wrong.yaml"), *runs[1]]
    partial = ["--contract", str(folder / "partial.yaml"), *runs[1], "--extract", "full"]
    spark = ["--engine", "spark"]
    lines = {
        "wrong condition": ["merge", *wrong],
        "plan wrong": ["plan-merge", *wrong],
        "full of partial": ["merge", *partial],
        "plan full": ["plan-merge", *partial],
        "plan first": ["plan-merge", *contract, *runs[1], "--json"],
        "merge": ["merge", *contract, *runs[1], *runs[2], "--json"],
        "plan third": ["plan-merge", *contract, *runs[2]],
        "refused": ["plan-merge", *contract, *runs[3]],
        "several": ["merge", *contract, *runs[1], *runs[3]],
        "broken": ["merge", *contract, "--input", str(folder / "cut.ndjson.gz"), "--at", time(5)],
        "as of": ["as-of", "people", time(1), "--format", "ndjson"],
        "changes": ["changes", "people", time(1), time(2), "--format", "ndjson"],
        "texts": [
            "merge", "--contract", str(folder / "texts.yaml"),
            "--input", str(folder / "texts.ndjson"), "--at", time(1),
        ],
        "harm": ["sql", "DELETE FROM people", *spark],
        "rebuild key": ["rebuild", "--table", "people", "--keys", str(folder / "keys.ndjson")],
        "killed": ["killed", "merge", *contract, *runs[4]],
        "rebuild": ["rebuild", "--table", "people", "--json"],
        "count": ["sql", 'SELECT id, name FROM people ORDER BY id, "at"', "--format", "csv"],
        "times": ["sql", f"SELECT {', '.join(FIRST_AND_LAST)}", "--format", "csv"],
        "journal": ["sql", "SELECT id, _op FROM people_journal WHERE id = 9", "--format", "csv"],
        "first refused": ["merge", *others, *runs[3]],
        "no first table": ["sql", "SELECT * FROM others"],
        "no first landing": ["rebuild", "--table", "others"],
        "first merged": ["merge", *others, *runs[1], *runs[3]],
        "rebuild first": ["rebuild", "--table", "others"],
        "no table": ["rebuild", "--table", "missing"],
        "no history": ["as-of", "missing", time(1)],
        "no zone": ["as-of", "people", "2026-01-01"],
        "events": ["merge", *events],
        "no versions": ["history", "events", "--key", "id=1"],
        "no past": ["as-of", "events", time(1)],
        "dollar": ["history", "texts", "--key", "k=${x}", "--format", "ndjson"],
        "keys": ["as-of", "texts", time(1)],
        "properties": ["sql", "SHOW TBLPROPERTIES texts(team)", "--format", "csv", *spark],
        "comments": ["describe", "texts", "--format", "csv"],
        "texts table": ["describe", "texts"],
        "twice": ["sql", "SELECT 1 AS a, 2 AS a", "--format", "ndjson"],
        "tables": ["tables", "--format", "json"],
        "unknown key": ["history", "people", "--key", "id=77", "--format", "json"],
        "no column": ["sql", "SELECT nme FROM people"],
        "no column of spark": ["sql", "SELECT nme FROM people", *spark],
        "no table of spark": ["sql", "SELECT * FROM peopel", *spark],
        "no harm": ["sql", "DELETE FROM people"],
    }  # fmt: skip
    asked = [[*line, "--warehouse", str(folder / "warehouse")] for line in lines.values()]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=json.dumps(asked),
        capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    said = [line for line in done.stdout.splitlines() if line.startswith("answer ")]
    assert len(said) == len(lines), done.stderr
    return {
        name: json.loads(line.removeprefix("answer "))
        for name, line in zip(lines, said, strict=True)
    }


def person(number: int, name: str | None, day: int) -> dict:
    return {"id": number, "name": name, "at": time(day), "op": "U"}


def time(day: int) -> str:
    return f"2026-01-{day:02}T00:00:00Z"


def at(day: int) -> str:
    return time(day).removesuffix("Z")


def rows(answer: dict) -> list[dict]:
    return [json.loads(line) for line in answer["out"].splitlines()]


def test_a_plan_for_a_warehouse_that_is_not_there_makes_none(answers):
    first = answers["plan first"]
    plan = json.loads(first["out"])

    assert (plan["creates"], plan["opened"], first["known"]) == (True, 2, False)
    assert plan["samples"]["opened"][0]["changes"]["name"] == {"new": "ann"}


def test_change_extracts_open_and_delete(answers):
    assert answers["merge"]["error"] == "None"

    first, second = rows(answers["merge"])
    assert (first["opened"], second["opened"], second["closed"], second["deleted"]) == (2, 1, 2, 1)
    assert "this run is merged" in answers["plan third"]["out"]


def test_a_plan_is_refused_as_its_merge_would_be(answers):
    assert answers["refused"]["code"] == 1
    assert "TooManyRejectedError" in answers["refused"]["error"]
    (line,) = [line for line in answers["refused"]["out"].splitlines() if "{oh" in line]
    cells = [cell.strip() for cell in line.split("│")]
    assert cells[1:] == ["2", "{oh", "does not parse as the contract's schema"]


def test_an_error_of_one_of_several_runs_names_the_run_and_its_file(answers):
    assert answers["several"]["out"].startswith("people: opened 0")
    error = answers["several"]["error"]
    (file,) = re.findall(r"--at 2026-01-03T00:00:00Z --input (\S+/3\.ndjson): ", error)
    assert f"allows 0.01: {file} line 2: does not parse" in error
    assert "landing" not in error


def test_a_first_merge_that_is_refused_leaves_neither_a_table_nor_a_landing(answers):
    assert "TooManyRejectedError" in answers["first refused"]["error"]
    assert "no table 'others'; there are people, " in answers["no first table"]["error"]
    assert "only merged tables can be rebuilt" in answers["no first landing"]["error"]


def test_a_run_that_is_refused_takes_nothing_from_those_before_it(answers):
    assert "opened 2" in answers["first merged"]["out"]
    assert "TooManyRejectedError" in answers["first merged"]["error"]
    found = "others: 1 runs; 0 rows missing, 0 wrong; nothing to commit"
    assert found in answers["rebuild first"]["out"]


@pytest.mark.parametrize("command", ["wrong condition", "plan wrong"])
def test_a_wrong_condition_is_refused_before_anything_is_made(answers, command):
    assert "apply_as_deletes: 'operation' is not a column of" in answers[command]["error"]
    assert (answers[command]["code"], answers[command]["known"]) == (1, False)


@pytest.mark.parametrize("command", ["full of partial", "plan full"])
def test_a_full_extract_of_partial_records_is_refused_before_anything_is_made(answers, command):
    assert "a null in a full extract is a value" in answers[command]["error"]
    assert (answers[command]["code"], answers[command]["known"]) == (1, False)


def test_as_of_and_changes_read_the_history(answers):
    assert [(row["id"], row["name"]) for row in rows(answers["as of"])] == [(1, "ann"), (2, "ben")]
    assert "_line_hash" not in answers["as of"]["out"]
    assert [(row["_change"], row["id"], row["_changes"]) for row in rows(answers["changes"])] == [
        ("updated", 1, {
            "name": {"old": "ann", "new": "anna"}, "at": {"old": at(1), "new": at(2)},
        }),
        ("deleted", 2, {"name": {"old": "ben"}, "at": {"old": at(1)}}),
    ]  # fmt: skip


def test_a_query_shows_the_first_and_the_last_time_of_all(answers):
    shown = "0001-01-01T00:00:00,9999-12-31T23:59:59.999999"
    assert answers["times"]["out"].splitlines() == ["at,at", shown]


def test_what_a_key_holds_is_found_and_shown_as_it_is(answers):
    assert answers["texts"]["error"] == "None"
    (found,) = rows(answers["dollar"])
    assert (found["k"], found["v"]) == ("${x}", VALUE)
    shown = [line.split("│")[2].strip() for line in answers["keys"]["out"].splitlines()[2:]]
    assert sorted(shown) == sorted([*KEYS[:1], '""', *KEYS[2:4], r"\x1b[31mred", *KEYS[5:]])
    assert '{"name": "Zoë", "parts": [1.5, null], "raw": "AP8="}' in answers["keys"]["out"]


def test_texts_of_a_contract_are_kept_as_they_are_written(answers):
    assert answers["properties"]["out"].splitlines() == ["key,value", "team,a${b}c"]
    assert "k,string,key,[b]${env:HOME}[/b]" in answers["comments"]["out"].splitlines()
    assert "Prices in ${currency}" in answers["texts table"]["out"].splitlines()


def test_the_tables_are_listed_with_their_rows(answers):
    found = {row["table"]: row for row in json.loads(answers["tables"]["out"])}

    assert [*found] == sorted(found)
    assert (found["people"]["kind"], found["people"]["rows"]) == ("scd2", 3)
    assert found["people_journal"]["kind"] == "journal"
    assert (found["events"]["kind"], found["events"]["current"]) == ("append", None)


def test_of_two_columns_of_one_name_both_are_shown(answers):
    assert rows(answers["twice"]) == [{"a": 1, "a_2": 2}]


def test_a_rebuild_brings_back_what_was_deleted_by_hand(answers):
    assert "2 rows missing, 0 wrong" in answers["rebuild key"]["out"]
    assert json.loads(answers["rebuild"]["out"])["missing"] == 1
    assert answers["count"]["out"].splitlines() == ["id,name", "1,ann", "1,anna", "2,ben"]


def test_a_rebuild_knows_a_run_that_was_killed_before_its_landing_was_marked(answers):
    assert answers["killed"]["code"] != 0
    assert answers["journal"]["out"].splitlines() == ["id,_op", "9,delete"]


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("no table", "contract.yaml: not there; only merged tables can be rebuilt"),
        ("no history", "no table 'missing'; there are others, people, people_journal, texts"),
        (
            "no column",
            'Referenced column "nme" not found in FROM clause! Candidate bindings: "name"',
        ),
        (
            "no column of spark",
            "A column or function parameter with name `nme` cannot be resolved. ",
        ),
        ("no table of spark", "no table 'peopel'; did you mean people? there are events, "),
        ("no harm", "give one query, which only reads"),
        ("unknown key", "people: no version of id=77"),
        ("no zone", "has no time zone; append Z for UTC"),
        ("no versions", "events: no history table; it has no _valid_from"),
        ("broken", "cut.ndjson.gz: broken gzip: Compressed file ended before"),
        ("no past", "events: no history table; it has no _valid_from"),
    ],
)
def test_a_fault_is_one_line(answers, command, error):
    assert answers[command]["code"] == 1
    assert error in answers[command]["error"]
    assert "\\n" not in answers[command]["error"]
    assert not re.search(r"\[[A-Z_]+[.\]]|SQLSTATE|(java|org)\.", answers[command]["error"])
