"""Each environment synthesised once, from the repository as it is, without packages."""

import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk.assertions import Template

from cdk.app import ENVIRONMENTS, ROOT, build

STACKS = ("storage", "compute", "orchestration")
CONTEXT = {**json.loads((ROOT / "cdk.json").read_text())["context"], "bundle": False}

Stacks = dict[str, Template]


def synthesise(folder: Path, *names: str) -> dict[str, Stacks]:
    """Return the templates of some environments; the files lie in the folder."""
    app = build(list(names), out=str(folder), context=CONTEXT)
    stages: dict[str, Any] = {name: app.node.find_child(name) for name in names}
    return {
        name: {stack: Template.from_stack(getattr(stage, stack)) for stack in STACKS}
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
