"""The example notebook and the snippets of its page, run on a small warehouse."""

import ast
import json
from pathlib import Path
from typing import Any

import matplotlib
import pytest

from tests.docs.pages import ROOT, snippets
from tests.warehouses import SECOND

matplotlib.use("Agg")
NOTEBOOK = ROOT / "examples/notebook/history.ipynb"
PAGE = [each.text for each in snippets("python") if each.page == "docs/python.md"]


def run(cells: list[str]) -> list[Any]:
    """Run cells in one namespace, and return the value of each that ends with an expression."""
    names: dict[str, Any] = {}
    shown: list[Any] = []
    for cell in cells:
        body = ast.parse(cell).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "cell", "exec"), names)  # noqa: S102  our own code
        if isinstance(last, ast.Expr):
            code = compile(ast.Expression(last.value), "cell", "eval")
            shown.append(eval(code, names))  # noqa: S307
    return shown


def test_the_notebook_runs_from_its_top(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE", str(folder))
    document = json.loads(NOTEBOOK.read_text())
    cells = ["".join(c["source"]) for c in document["cells"] if c["cell_type"] == "code"]

    tables, columns, current, then, most, history, plot, changes, runs = run(cells)

    assert [row["table"] for row in tables.dicts()] == ["airports", "airports_quarantine"]
    assert columns.dicts()[0]["column"] == "icao"
    assert current["icao"].to_list() == [then["icao"].to_list()[0], "KJFK"]
    assert most.rows()[0] == ("EHAM", 2)
    assert [row["_valid_to"] for row in history.dicts()] == [SECOND, None]
    assert plot.get_title() == "airports: icao=EHAM"
    assert dict(changes.rows()) == {"inserted": 3, "updated": 1, "deleted": 1}
    assert runs.get_title(loc="left") == "airports: what runs did"


def test_the_notebook_is_kept_without_outputs() -> None:
    document = json.loads(NOTEBOOK.read_text())
    code = [cell for cell in document["cells"] if cell["cell_type"] == "code"]

    assert document["nbformat"] == 4
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert len({cell["id"] for cell in document["cells"]}) == len(document["cells"])


def test_the_snippets_of_the_page_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "warehouse").symlink_to(folder)
    monkeypatch.chdir(tmp_path)

    run([text for text in PAGE if "Warehouse.sandbox()" not in text])

    assert len(PAGE) >= 4
    assert (tmp_path / "history.png").is_file()
