"""One sandbox for the whole test run, and a source of its own for every test in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from lakekit.sandbox import Sandbox
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
def sandbox(config: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
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


@pytest.fixture
def tables() -> int:
    """How many tables the source has; a test may parametrise it."""
    return 1


@pytest.fixture
def world(sandbox: Sandbox, config: Path, httpserver: HTTPServer, tables: int) -> Iterator[World]:
    """One source with its tables."""
    yield World(sandbox, config, Api(httpserver), tables)
    httpserver.clear()
