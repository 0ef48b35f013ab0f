"""The flow on schedules of files, runs and faults: see CONTRIBUTING.md."""

import pytest

from tests.flow.guards import GUARDS, without
from tests.flow.play import failures

SCHEDULES, BLOCK = 300, 25
# How many schedules the simulation may need to find that a guard is missing.
MOST_TO_FIND = 400


@pytest.mark.parametrize("first", range(0, SCHEDULES, BLOCK))
def test_each_landing_is_merged_once_and_nothing_is_left(first: int) -> None:
    assert list(failures(range(first, first + BLOCK))) == []


@pytest.mark.long
@pytest.mark.parametrize("guard", GUARDS)
def test_the_simulation_finds_that_a_guard_is_missing(guard: str) -> None:
    with without(guard):
        assert next(failures(range(MOST_TO_FIND)), None)
