"""Settings of the whole suite."""

import pytest
from hypothesis import settings

from tests.sandboxes import config, sandbox, tables, world

__all__ = ["config", "sandbox", "tables", "world"]

# The same examples on every machine: a red suite must mean a change, not a dice roll.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.load_profile("suite")


HISTORIES = 1080


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `make test-long` ask for more."""
    parser.addoption(
        "--histories",
        type=int,
        default=HISTORIES,
        help="how many random histories",
    )
    parser.addoption("--seed", type=int, default=0, help="of the first ones: others than ever")
