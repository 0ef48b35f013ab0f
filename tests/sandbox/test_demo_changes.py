"""The demo of late changes: what it expects is what the model has, and what the pages show."""

import os
import re
import subprocess
import sys
from functools import cache
from io import StringIO

import pytest
from rich.console import Console, RenderableType
from rich.padding import Padding

from lakekit.cli import demo_changes, report
from lakekit.cli.demo_changes import CORRECTED, LATE, RUNS
from tests.docs.pages import ROOT, read
from tests.model.admission import history
from tests.model.terms import Options, Record, Row, Run, comparable
from tests.unit.examples.test_time_zones import README, records

PAGE = read(ROOT / "docs/late-changes.md")
OPTIONS = Options(
    keys=("name",),
    sequence_by="released_at",
    apply_as_deletes=lambda record: record["op"] == "D",
    except_columns=("op",),
)
BEFORE_LATE, BEFORE_CORRECTED = RUNS.index(LATE), RUNS.index(CORRECTED)


def run_of(at: str, files: tuple[str, ...]) -> Run:
    return Run("changes", at, [record for name in files for record in records(name)])


@cache
def table_after(runs: int) -> list[Row]:
    return history([run_of(each.at, each.files) for each in RUNS[:runs]], OPTIONS)


def shown(zone: str, runs: int, *columns: str) -> str:
    """Return the history of a zone by the model, as the demo shows it."""
    versions = demo_changes.dated([row for row in table_after(runs) if row["name"] == zone])
    return printed(Padding(report.history_table(versions, columns), (0, 2)))


def printed(renderable: RenderableType) -> str:
    sink = StringIO()
    Console(file=sink, width=80, color_system=None).print(renderable)
    return plain(sink.getvalue())


def plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def blocks(page: str) -> list[str]:
    found = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return [plain(block) for block in found]


@pytest.mark.parametrize("number", range(1, len(RUNS) + 1))
def test_the_demo_expects_the_table_that_the_model_has(number: int) -> None:
    table, delivery = table_after(number), RUNS[number - 1]
    current = sum(row["_is_current"] for row in table)

    assert (len(table), current) == (delivery.versions, delivery.current)
    assert printed(report.counts_line(delivery.counts, len(table), current)) in README
    assert f"\n  {delivery.says}\n" in README


def test_the_records_of_a_run_are_all_counted() -> None:
    for each in RUNS:
        counted = each.counts["opened"] + each.counts["unchanged"] + each.counts["deletes"]
        assert counted == sum(len(records(name)) for name in each.files)


def test_the_order_of_the_deliveries_does_not_matter() -> None:
    at_once = history([run_of("T", demo_changes.BY_RELEASE)], OPTIONS)

    assert comparable(at_once) == comparable(table_after(len(RUNS)))


def test_as_many_records_are_late_as_the_demo_says() -> None:
    newest: dict[str, str] = {}
    for each in RUNS[:BEFORE_LATE]:
        for record in run_of(each.at, each.files).records:
            newest[record["name"]] = max(newest.get(record["name"], ""), record["released_at"])

    def is_late(record: Record) -> bool:
        return record["released_at"] < newest.get(record["name"], "")

    brought = records("2022b")
    late = [record for record in brought if is_late(record)]
    assert LATE.says.startswith(f"{len(late)} of its {len(brought)} records are older")


@pytest.mark.parametrize("zone", ["Asia/Urumqi", "Antarctica/Vostok"])
@pytest.mark.parametrize("runs", [BEFORE_LATE, BEFORE_LATE + 1])
def test_the_pages_show_a_zone_before_and_after_the_late_release(zone: str, runs: int) -> None:
    text = shown(zone, runs, "countries", "comments")

    assert text in README
    assert text in PAGE


@pytest.mark.parametrize("runs", [BEFORE_CORRECTED, BEFORE_CORRECTED + 1])
def test_the_page_shows_a_zone_before_and_after_its_correction(runs: int) -> None:
    assert shown("America/Dawson_Creek", runs, "coordinates") in README


@pytest.mark.long
def test_the_demo_prints_what_the_pages_show(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "lakekit.cli.demo_changes"],
        cwd=tmp_path, env={**os.environ, "COLUMNS": "80", "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    output = plain(done.stdout)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert len(blocks(README)) >= 9
    assert [block for block in blocks(README) + blocks(PAGE) if block not in output] == []
    assert max(map(len, output.splitlines())) <= 80
