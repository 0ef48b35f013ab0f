"""One sandbox for the whole test run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.aws import Sandbox

ROOT = Path(__file__).parents[1]
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
        folder=tmp_path_factory.mktemp("sandbox"),
        config=config,
        secrets={"lakekit/dev/tests": SECRET},
        wait_scale=WAIT_SCALE,
    ) as sandbox:
        yield sandbox
