"""`lakekit cost`, in this process, of the tests' project."""

import json

import pytest
from typer.testing import CliRunner, Result

from lakekit.cli.main import app


def cost(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["--project", "tests/project", "cost", *arguments])


def test_says_what_each_source_and_all_cost() -> None:
    lines = cost("--environment", "dev", "--loads", "shop_api=30").stdout.splitlines()

    rows = [[cell.strip() for cell in line.split("│")] for line in lines[2:5]]
    assert [row[0] for row in rows] == ["shop_api", "(without a run)", "(all)"]
    assert rows[0][1] == "30"
    assert float(rows[2][-1]) == pytest.approx(float(rows[0][-1]) + float(rows[1][-1]), abs=0.011)
    assert max(map(len, lines)) <= 80


def test_a_larger_load_costs_more() -> None:
    few, many = (
        json.loads(cost("--environment", "dev", "--loads", "shop_api=30", "--size",
                        f"shop_api={size}", "--format", "json").stdout)[-1]["total"]
        for size in (1, 1000)
    )  # fmt: skip

    assert many > few


def test_says_which_source_nothing_starts() -> None:
    assert "No schedule starts shop_api" in cost("--environment", "dev").stdout


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--size", "shop=1"], "--size shop=1: no source of the environment; there are shop_api"),
        (["--size", "shop_api=x"], "must have a number above 0, such as shop_api=25"),
        (["--loads", "shop_api=-1"], "--loads shop_api=-1: must have a number above 0"),
        (["--loads", "shop_api=nan"], "must have a number above 0"),
        (["--size", "shop_api"], "must have a number above 0"),
    ],
)
def test_refuses_what_is_no_number_of_a_source(arguments: list[str], fault: str) -> None:
    assert fault in str(cost("--environment", "dev", *arguments).exception)
