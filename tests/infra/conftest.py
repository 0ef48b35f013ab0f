"""Each environment of the tests' project synthesised once, without packages."""

from pathlib import Path
from typing import Any

import pytest
from aws_cdk.assertions import Template

from cdk.app import ROOT, build
from lakekit.config.environment import environment_names

PROJECT = ROOT / "tests/project"
ENVIRONMENTS = environment_names(PROJECT / "config/environments")
STACKS = ("storage", "network", "compute", "orchestration", "monitoring", "delivery")
CONTEXT = {"bundle": False}
SOURCE = "source: {name}\nbase_url: https://shop.example\n{rest}\n"
# Two deployments that live in one account, with the shortest and the longest time-out of jobs.
TWO = {
    "base": 'account: "111111111111"\nregion: eu-west-1\n',
    "dev": "schedules: false\nstorage: {removal: destroy}\njobs: {timeout_minutes: 1}\n"
    "lineage: {url: 'https://lineage.example/api', secret: 'lakekit/{environment}/lineage'}\n",
    "pre-prod": "prefix: acme\njobs: {timeout_minutes: 2880}\npermissions_boundary: bounds\n"
    "tags: {free: {cost-center: '4711'}}\nlineage: {url: 's3://catalogue/lineage'}\n",
}
SOURCES = {
    "shop": "schedule: {expression: 'cron(0 6 ? * MON-FRI *)', time_zone: Europe/London, "
    "flexible_minutes: 15}",
    "hourly": "schedule: rate(1 hour)",
    "by_hand": "",
    "new_one": "schedule: rate(1 day)\nenvironments: [dev]",
    # Names of other constructs in the stack.
    **dict.fromkeys(("group", "inbox", "of", "role", "schedules"), "schedule: rate(1 day)"),
}

Stacks = dict[str, Template]


def make_project(root: Path, *, environments: dict[str, str], sources: dict[str, str]) -> Path:
    """Write a project.

    Args:
        root: An empty folder.
        environments: Their YAML by name; `base` is what all share.
        sources: What each file has besides name and address, by name.
    """
    for folder in ("contracts", "environments", "sources"):
        (root / "config" / folder).mkdir(parents=True)
    for name, text in environments.items():
        (root / f"config/environments/{name}.yaml").write_text(text)
    for name, rest in sources.items():
        (root / f"config/sources/{name}.yaml").write_text(SOURCE.format(name=name, rest=rest))
    return root


def synthesise(
    folder: Path, *names: str, project: Path = PROJECT, root: Path = ROOT
) -> dict[str, Stacks]:
    """Return the templates of some environments; the files lie in the folder."""
    app = build(names, project=project, out=str(folder), context=CONTEXT, root=root)
    stages: dict[str, Any] = {name: app.node.find_child(name) for name in names}
    return {
        name: {
            part: Template.from_stack(stack)
            for part in STACKS
            if (stack := getattr(stage, part)) is not None
        }
        for name, stage in stages.items()
    }


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cdk.out")


@pytest.fixture(scope="session")
def environments(assembly: Path) -> dict[str, Stacks]:
    return synthesise(assembly, *ENVIRONMENTS)


@pytest.fixture(scope="session", params=ENVIRONMENTS)
def stacks(request: pytest.FixtureRequest, environments: dict[str, Stacks]) -> Stacks:
    return environments[request.param]


@pytest.fixture(scope="session")
def dev(environments: dict[str, Stacks]) -> Stacks:
    return environments["dev"]


@pytest.fixture(scope="session")
def two_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cdk.out")


@pytest.fixture(scope="session")
def two(two_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Stacks]:
    root = make_project(tmp_path_factory.mktemp("project"), environments=TWO, sources=SOURCES)
    return synthesise(two_folder, "dev", "pre-prod", project=root)
