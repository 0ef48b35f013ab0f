"""The report of the demo and its checks, without a sandbox."""

from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, RenderableType

from examples.airports.server import RELEASES
from lakekit.batch import MergeResult
from lakekit.cli import demo, report
from lakekit.cli.readers import Counts
from lakekit.cli.watch.history import History, Visit
from lakekit.cli.watch.live import shown as visits_shown


def shown(renderable: RenderableType) -> str:
    console = Console(file=StringIO(), width=100, color_system="standard", force_terminal=True)
    console.print(renderable)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def version(begin: str, end: str | None, name: str) -> dict[str, Any]:
    until = datetime.fromisoformat(end) if end else None
    return {"_valid_from": datetime.fromisoformat(begin), "_valid_to": until, "name": name}


def test_the_history_of_a_key_marks_what_a_version_changed() -> None:
    versions = [version("2024-08-06", "2025-09-09", "Old"), version("2025-09-09", None, "New")]

    first, second = shown(report.history_table(versions, ["name"])).splitlines()[3:5]

    assert "2024-08-06" in first
    assert "2025-09-09" in first
    assert "now" in second
    assert "\x1b[1;33mNew" in second
    assert "\x1b[1;33mOld" not in first


def test_a_load_is_one_line_of_counts() -> None:
    result = MergeResult(table="t", run_id="r", opened=814, closed=770, unchanged=27456)

    line = report.run_line(result, 28270).plain

    assert line.split() == [
        "opened", "814", "closed", "770", "unchanged", "27,456", "current", "28,270",
    ]  # fmt: skip


@pytest.mark.parametrize("release", RELEASES)
def test_a_load_with_the_true_numbers_goes_into_the_summary(release: str) -> None:
    opened, closed = demo.TRUTH[release]
    result = MergeResult(table="t", run_id="r", opened=opened, closed=closed)

    assert demo._checked(release, result, 28000) == {
        "release": release, "opened": opened, "closed": closed, "current": 28000,
    }  # fmt: skip
    with pytest.raises(demo.DemoError, match="must be"):
        demo._checked(release, result.model_copy(update={"closed": closed + 1}), 28000)


def test_the_demo_shows_tasks_and_not_what_leads_from_one_to_the_next() -> None:
    kinds = ("Task", "Choice", "Map", "Task", "Pass", "Succeed")
    visits = [Visit(state=kind, kind=kind, entered=datetime.min) for kind in kinds]
    history = History(logs=Path(), visits=visits)

    assert [visit.kind for visit in visits_shown(history, verbose=False)] == ["Task", "Task"]
    assert visits_shown(history, verbose=True) == visits


def test_the_true_numbers_agree_with_each_other() -> None:
    opened = sum(numbers[0] for numbers in demo.TRUTH.values())
    closed = sum(numbers[1] for numbers in demo.TRUTH.values())

    assert Counts(opened, opened - closed) == demo.TRUE_COUNTS
