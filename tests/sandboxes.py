"""One sandbox for the whole test run, and a source of its own for every test in it."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from pytest_httpserver import HTTPServer

from lakekit.sandbox import Sandbox
from tests.rights import recording
from tests.rights.roles import short
from tests.worlds import Api, World

ROOT = Path(__file__).parents[1]
PROJECT = ROOT / "tests/project"
WAIT_SCALE = 0.005
SECRET = "not-a-real-key"  # noqa: S105


@pytest.fixture(scope="session")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sources and contracts of the tests; each test adds its own."""
    folder = tmp_path_factory.mktemp("config")
    (folder / "sources").mkdir()
    (folder / "contracts").mkdir()
    return folder


@pytest.fixture(scope="session")
def sandbox(
    config: Path, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[Sandbox]:
    """AWS on this machine with the repository's own handlers, jobs and state machines."""
    with Sandbox(
        root=ROOT,
        project=PROJECT,
        folder=tmp_path_factory.mktemp("sandbox"),
        config=config,
        secrets={"lakekit/dev/tests": SECRET},
        wait_scale=WAIT_SCALE,
    ) as sandbox:
        yield sandbox
        if pytestconfig.getoption("record_rights"):
            recording.store("sandbox", asked(sandbox))


def asked(sandbox: Sandbox) -> Iterator[recording.Call]:
    """Yield what roles were allowed, with the names that roles and keys have in templates."""
    aliases = sandbox.client("kms").list_aliases()["Aliases"]
    keys = {each["TargetKeyId"]: each["AliasName"].rpartition("-")[2] for each in aliases
            if "TargetKeyId" in each}  # fmt: skip
    with urlopen(f"{sandbox.endpoint}/_sandbox/rights", timeout=10) as response:  # noqa: S310
        calls = json.load(response)
    for role, action, resource in calls:
        head, slash, name = resource.rpartition("/")
        named = f"{head}/{keys[name]}" if slash and name in keys else resource
        named = named.replace(":secret:lakekit/dev/tests-", ":secret:lakekit/dev/shop_api-")
        yield short(role.rpartition("-")[2]), action, named


@pytest.fixture
def tables() -> int:
    """How many tables the source has; a test may parametrise it."""
    return 1


@pytest.fixture
def world(sandbox: Sandbox, config: Path, httpserver: HTTPServer, tables: int) -> Iterator[World]:
    """One source with its tables."""
    yield World(sandbox, config, Api(httpserver), tables)
    httpserver.clear()
