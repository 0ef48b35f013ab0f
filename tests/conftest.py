"""Settings of the whole suite."""

from typing import Any

import pytest
from hypothesis import settings

from tests.examples import EXAMPLE, OF_THE_EXAMPLE
from tests.once import done_once
from tests.sandboxes import config, sandbox, tables, world

__all__ = ["config", "done_once", "sandbox", "tables", "world"]

# They go with the example: all others know nothing of it.
collect_ignore = [] if EXAMPLE.is_dir() else list(OF_THE_EXAMPLE)

# The same examples on every machine: a red suite must mean a change, not a dice roll.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.load_profile("suite")


HISTORIES = 1080


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of `make test-all` and `make test-long`."""
    parser.addoption(
        "--histories",
        type=int,
        default=HISTORIES,
        help="how many random histories",
    )
    parser.addoption("--seed", type=int, default=0, help="of the first ones: others than ever")
    parser.addoption("--record-rights", action="store_true", help="store what roles ask for")
    parser.addoption("--long", action="store_true", help="also the tests that are marked long")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that are marked long, unless they are asked for."""
    if hasattr(config, "workerinput"):
        from tests.processes import place_of  # noqa: PLC0415  pytest-xdist may be off

        items.sort(key=lambda item: place_of(item.nodeid))
    if config.getoption("long"):
        return
    config.hook.pytest_deselected(items=[i for i in items if i.get_closest_marker("long")])
    items[:] = [item for item in items if not item.get_closest_marker("long")]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep together what starts the same, where `make test` shares files among processes."""
    if config.getoption("dist") != "loadfile":
        return None
    from tests.processes import GroupScheduling  # noqa: PLC0415

    return GroupScheduling(config, log)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what is left out: with several processes, pytest does not say how many it deselected."""
    return None if config.getoption("long") else "without the tests that are marked long (--long)"
