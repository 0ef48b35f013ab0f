"""Plays schedules and says what does not hold."""

import multiprocessing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from unittest.mock import patch

from lakekit.documents import Document
from lakekit.errors import LakekitError
from tests.flow.checks import faults
from tests.flow.story import Story


@dataclass(frozen=True)
class Outcome:
    """What became of a schedule, and how much was done in it."""

    seed: int
    faults: list[str]
    numbers: dict[str, int]

    @property
    def replay(self) -> str:
        """What went wrong first, and the command that shows it."""
        return f"python -m tests.flow --seed {self.seed} --trace: {self.faults[0]}"


def play(seed: int, *, trace: bool = False) -> tuple[Story, list[str]]:
    """Play one schedule and return what does not hold."""
    story = Story(seed, trace=trace)
    with patch.object(Document, "parse", _PARSE_ONCE):
        try:
            story.play()
        except Exception as error:
            return story, [f"{type(error).__name__}: {error}"]
        return story, faults(story)


def play_all(seeds: Iterable[int], *, processes: int) -> Iterator[Outcome]:
    """Play schedules side by side, and yield what became of each, in no order."""
    with multiprocessing.Pool(processes) as pool:
        yield from pool.imap_unordered(_outcome, seeds, chunksize=4)


def failures(seeds: Iterable[int]) -> Iterator[str]:
    """Play schedules one after the other, and yield how to play those again that failed."""
    for seed in seeds:
        found = play(seed)[1]
        if found:
            yield Outcome(seed, found, {}).replay


@lru_cache(4096)
def _parsed(model: type[Document], text: bytes) -> Document:
    return _parse(model, text, name="")


def _parse_once(model: type[Document], text: bytes, *, name: str) -> Document:
    """Read a document, the same text only once: a schedule reads each of its own ten times."""
    try:
        return _parsed(model, text)
    except LakekitError:  # with its name
        return _parse(model, text, name=name)


_parse: Any = vars(Document)["parse"].__func__
_PARSE_ONCE: Any = classmethod(_parse_once)


def _outcome(seed: int) -> Outcome:
    story, found = play(seed)
    world = story.world
    numbers = {
        "executions": sum(len(machine.executions) for machine in world.machines.values()),
        "jobs": sum(world.job_runs.values()),
        "commits": sum(len(table.commits) for table in world.tables.values()),
        "notices": len(world.notices),
    }
    return Outcome(seed, found, numbers)
