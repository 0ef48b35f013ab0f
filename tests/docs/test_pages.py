"""Snippets load, links resolve, and the headings of steps are those of the code."""

import inspect
from pathlib import Path

import pytest
import yaml

from cdk.stacks.compute import FUNCTIONS, JOBS
from lakekit.config.environment import Environment
from lakekit.config.source import load_source
from lakekit.contract.contract import load_contract
from lakekit.models import parse_yaml
from lakekit.sandbox.creators import NOT_BUILT
from lakekit.steps import functions as steps
from lakekit.steps import jobs as job_steps
from tests.docs.pages import PAGES, ROOT, Snippet, headings, links, read, snippets

STEPS = {
    name.removesuffix("Result")
    for module in (steps, job_steps)
    for name, _ in inspect.getmembers(module, inspect.isclass)
    if name.endswith("Result") and name.removesuffix("Result") in vars(module)
}


def load_environment_part(text: str, *, name: str) -> Environment:
    """Load some fields of an environment, with those that each must have."""
    must = {"environment": "dev", "account": "1" * 12, "region": "eu-west-1"}
    return Environment.model_validate(parse_yaml(text, name=name) | must)


KINDS = {
    "# contract": load_contract,
    "# source": load_source,
    "# environment": load_environment_part,
}


@pytest.mark.parametrize("snippet", snippets("yaml"), ids=lambda s: s.page)
def test_a_yaml_snippet_loads_as_what_its_first_line_says(snippet: Snippet) -> None:
    kind, _, text = snippet.text.partition("\n")

    assert KINDS[kind](text, name=snippet.page)


def test_there_are_snippets_of_all_kinds() -> None:
    kinds = {snippet.text.partition("\n")[0] for snippet in snippets("yaml")}

    assert kinds == set(KINDS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in headings(target), link


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_a_page_is_linked_from_another(page: Path) -> None:
    found = {(other.parent / link.partition("#")[0]).resolve()
             for other in PAGES if other != page for link in links(other)}  # fmt: skip

    assert page in found


def test_every_step_has_its_heading_and_every_heading_its_step() -> None:
    assert len(STEPS) == 16
    assert headings(ROOT / "docs/steps.md") - {"steps"} == {name.lower() for name in STEPS}


def test_the_steps_are_those_that_are_deployed() -> None:
    deployed = {"".join(word.capitalize() for word in name.split("_")) for name in FUNCTIONS}
    deployed |= {"".join(word.capitalize() for word in name.split("_")) for name in JOBS}
    deployed |= {"PauseSchedules", "ShareTable"}  # where an environment has a pause, or readers

    assert deployed == STEPS


def test_the_places_that_the_steps_page_names_are_there() -> None:
    places = {word for word in read(ROOT / "docs/steps.md").split("`")[1::2] if "/" in word}
    paths = [
        place for place in places if place.split("/")[0] in {"lambdas", "glue_jobs", "lakekit"}
    ]

    assert len(paths) >= 17
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_the_steps_page_shows_where_each_step_runs() -> None:
    rows = {
        cells[1].strip(): cells[2].strip()
        for line in read(ROOT / "docs/steps.md").splitlines()
        if len(cells := line.split("|")) == 6
    }

    assert {rows[step] for step in STEPS} == {"Lambda", "Glue"}
    jobs = {"".join(word.capitalize() for word in job.split("_")) for job in JOBS}
    assert {step for step in STEPS if rows[step] == "Glue"} == jobs


def test_the_workflow_calls_make_alone() -> None:
    text = (ROOT / ".github/workflows/test.yaml").read_text()
    job = yaml.safe_load(text)["jobs"]["make"]
    runs = [step["run"] for step in job["steps"] if "run" in step]
    makefile = (ROOT / "Makefile").read_text()

    assert runs == ["make ${{ matrix.target }}"]
    for target in job["strategy"]["matrix"]["target"]:
        assert f"\n{target}:" in makefile


def test_hooks_call_what_the_repository_has() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    makefile = (ROOT / "Makefile").read_text()

    assert {repo["repo"] for repo in config["repos"]} == {"local"}
    for hook in hooks:
        program, *rest = hook["entry"].split()
        assert (
            f"\n{rest[0]}:" in makefile if program == "make" else program.startswith(".venv/bin/")
        )


def test_the_sandbox_page_lists_what_is_not_built() -> None:
    table = read(ROOT / "docs/sandbox.md").partition("## What it does not build")[2]
    named = {word for word in table.split("`")[1::2] if word.startswith("AWS::")}

    assert named == NOT_BUILT.keys()
