"""The page on published bugs names existing tests, and every bug that a test names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs.pages import ROOT, read

Bug = tuple[str, str]
PAGE = read(ROOT / "docs/published-bugs.md")
ROWS = [line.split("|")[1:4] for line in PAGE.splitlines() if line.startswith("| ")][1:]
FILES = sorted((ROOT / "tests").rglob("*.py"))
UNTESTED = (" no test: ", " not Lakekit's: ")


def bugs(text: str) -> set[Bug]:
    """Return (project, number) of each bug; a number without a project is of the one before it."""
    found, project = set(), ""
    for word, number in re.findall(r"([\w-]+)?,? ?#(\d{2,6})\b", text):
        project = project if word in ("", "and") else word
        found.add((project, number))
    return found


def named_tests(cell: str) -> list[str]:
    return re.findall(r"`(tests/[^`]+)`", cell)


def read_tests(file: Path) -> Iterator[tuple[str, str]]:
    """Yield each test of a file, and each of its stories, with the text that names its bugs."""
    text = read(file)
    tree = ast.parse(text)
    place = str(file.relative_to(ROOT))
    lists = {
        node.targets[0].id: list(story_names(node.value))
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        yield f"{place}::{node.name}", ast.get_source_segment(text, node) or ""
        for used in (each for part in node.decorator_list for each in ast.walk(part)):
            for story in lists.get(used.id, []) if isinstance(used, ast.Name) else []:
                yield f"{place}::{node.name}[{story.partition(' ')[0]}]", story


def story_names(node: ast.expr) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name):
            first = each.args[0] if each.func.id == "Story" else None
            if isinstance(first, ast.Constant):
                yield first.value


TESTS = dict(pair for file in FILES for pair in read_tests(file))


def test_every_test_that_the_page_names_is_there() -> None:
    named = {test for row in ROWS for test in named_tests(row[2])}

    assert len(named) >= 60
    assert sorted(named - set(TESTS)) == []


def test_a_row_names_a_test_or_says_why_there_is_none() -> None:
    silent = [row[0] for row in ROWS if not (named_tests(row[2]) or row[2].startswith(UNTESTED))]

    assert silent == []


def test_a_test_names_the_bug_that_the_page_says_it_holds() -> None:
    strangers = [
        (row[0], test)
        for row in ROWS
        for test in named_tests(row[2])
        if bugs(row[0]) and not bugs(row[0]) & bugs(TESTS.get(test, ""))
    ]

    assert strangers == []


def test_each_bug_of_a_row_is_named_by_a_test_of_that_row() -> None:
    unnamed = [
        (row[0], bug)
        for row in ROWS
        if (tests := named_tests(row[2]))
        for bug in bugs(row[0]) - {each for test in tests for each in bugs(TESTS.get(test, ""))}
    ]

    assert unnamed == []


def test_the_page_names_every_story_and_every_test_that_says_whose_bug_it_holds() -> None:
    named = {test for row in ROWS for test in named_tests(row[2])}
    stories = {
        test
        for test, text in TESTS.items()
        if test.startswith("tests/spark/stories/test_published_bugs")
        and ("[" in test or '"""' in text)
    }

    assert len(stories) >= 60
    assert sorted(stories - named) == []


def test_the_page_names_every_bug_that_a_test_names() -> None:
    known = {bug for row in ROWS for bug in bugs(row[0])}
    named = {bug for file in FILES for bug in bugs(read(file))}

    assert len(named) >= 70
    assert sorted(named - known) == []


def test_a_bug_without_its_project_is_of_the_one_before() -> None:
    text = "dbt-core #11735, #11766: x; dlt #4305 and #3655; laktory"

    assert bugs(text) >= {("dbt-core", "11766"), ("dlt", "3655")}
    assert len(bugs(text)) == 4
