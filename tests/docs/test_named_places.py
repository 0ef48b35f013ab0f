"""The package has the shape that CONTRIBUTING and ADR 15 describe, and the places they name."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, read
from tests.docs.test_prose import name_of

MODULES = [path for path in (ROOT / "lakekit").rglob("*.py") if path.name != "__init__.py"]
# Folders of the repository; what a page names below one of them is there.
TOP = (
    "benchmarks", "cdk", "docs", "examples", "glue_jobs", "lakekit", "lambdas",
    "state_machines", "tests", "tools",
)  # fmt: skip
# What a person would write.
MADE = (
    # By a build.
    "lakekit/project/_product",
)
# Where a page gives a path from: the top, or the engine.
BASES = (ROOT, ROOT / "lakekit/spark")
_PLACE = re.compile(r"`([\w.-]+(?:/[\w.*-]+)+/?|[\w-]+/|[\w/]+\.py)(?:::[^`]+)?`")
_NAMES = re.compile(r"`(\w+)` in `([\w/]+\.py)`")


def places(page: Path) -> Iterator[str]:
    """Yield the files and folders of the repository that a page names."""
    for place in _PLACE.findall(read(page)):
        if (place.split("/")[0] in TOP or place.endswith(".py")) and place not in MADE:
            yield place


def is_there(place: str) -> bool:
    return any(next(base.glob(place.rstrip("/")), None) for base in BASES)


def test_contributing_draws_every_room_of_the_engine() -> None:
    drawing = read(ROOT / "CONTRIBUTING.md").partition("### The rooms of lakekit/spark")[2]
    drawn = set(re.findall(r"[\w/]+", drawing.split("```")[1]))
    folders = [f"{path.name}/" for path in (ROOT / "lakekit/spark").iterdir() if path.is_dir()]
    rooms = {name for name in folders if name != "__pycache__/"}
    rooms |= {path.stem for path in (ROOT / "lakekit/spark").glob("*.py")} - {"__init__"}

    assert len(rooms) >= 15
    assert rooms <= drawn


def test_the_layers_on_the_pages_are_those_that_are_held() -> None:
    linter = tomllib.loads(read(ROOT / "pyproject.toml"))["tool"]["importlinter"]
    layers = {each["name"]: each["layers"] for each in linter["contracts"] if "layers" in each}
    listed = re.findall(r"^\d+\. ((?:`[\w.]+`(?:, )?)+)$", read(ROOT / "CONTRIBUTING.md"), re.M)
    spine = read(ROOT / "docs/adr/0015-the-house-by-rooms.md").split("```")[1]
    rooms = [each.strip() for each in spine.removeprefix("text").split("→")]

    assert [re.findall("`(.+?)`", line) for line in listed] == [
        line.split(" | ") for line in layers["Layers"]
    ]
    assert [set(each.split(", ")) for each in reversed(rooms)] == [
        set(line.split(" | ")) for line in layers["The spine of a merge"]
    ]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_places_that_a_page_names_are_there(page: Path) -> None:
    assert [place for place in places(page) if not is_there(place)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_functions_that_a_page_names_are_in_their_modules(page: Path) -> None:
    for name, place in _NAMES.findall(read(page)):
        [file] = [base / place for base in BASES if (base / place).is_file()]
        defined = {getattr(node, "name", "") for node in ast.parse(read(file)).body}
        assert name in defined, f"{place}: {name}"


def test_places_are_found_and_others_are_not(tmp_path: Path) -> None:
    text = "`lakekit/spark/run.py` `diff/x.py::y` `cdk/stacks` `tests/` `raw/x/` `cdk.out` `a.yaml`"
    page = tmp_path / "page.md"
    page.write_text(text)

    assert list(places(page)) == ["lakekit/spark/run.py", "diff/x.py", "cdk/stacks", "tests/"]
    assert [is_there(place) for place in places(page)] == [True, False, True, True]
