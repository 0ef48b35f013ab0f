"""A pause switches off what runs, and on again what it has switched off, and nothing else."""

from typing import Literal

import pytest

from lakekit.steps.functions import PauseSchedules
from lakekit.watch.pause_schedules import pause_schedules
from tests.fakes import MemoryObjectStore


class Group:
    """The schedules of two sources, one of which a person has switched off."""

    def __init__(self) -> None:
        self.on = {"shop": True, "by_hand": False}
        self.fails = False

    def states(self) -> dict[str, bool]:
        return dict(self.on)

    def switch(self, name: str, *, on: bool) -> None:
        if self.fails:
            raise ConnectionError
        self.on[name] = on


class Story:
    def __init__(self) -> None:
        self.store, self.group = MemoryObjectStore(), Group()

    def does(self, action: Literal["pause", "resume"]) -> int:
        step = PauseSchedules(action=action)
        return pause_schedules(step, self.store, self.group).switched


def test_what_a_person_has_switched_off_stays_off() -> None:
    story = Story()

    assert story.does("pause") == 1
    assert story.group.on == {"shop": False, "by_hand": False}
    assert story.does("resume") == 1
    assert story.group.on == {"shop": True, "by_hand": False}


def test_twice_changes_nothing() -> None:
    story = Story()
    story.does("pause")

    assert story.does("pause") == 0
    story.does("resume")
    assert story.does("resume") == 0
    assert story.group.on == {"shop": True, "by_hand": False}


def test_a_pause_that_fails_half_way_is_taken_back_as_a_whole() -> None:
    story = Story()
    story.group.fails = True
    with pytest.raises(ConnectionError):
        story.does("pause")
    story.group.fails = False
    story.group.on["shop"] = False

    assert story.does("resume") == 1
    assert story.group.on["shop"] is True


def test_a_deployment_in_the_pause_may_add_and_remove_schedules() -> None:
    story = Story()
    story.does("pause")
    story.group.on = {"new": True}

    assert story.does("resume") == 0
    assert story.group.on == {"new": True}
