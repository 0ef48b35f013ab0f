"""A bucket with landings that wait, and the runs that an account lists."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from lakekit.landing.index import Blocked, block
from lakekit.ports import ExecutionDetails, ExecutionInfo
from tests.unit.runs.kit import NOON, World, landed, world

GUARD = "TooManyDeletedError"


def blocked_world(error: str = GUARD, **landing: Any) -> tuple[World, str]:
    """Return a world with one landing that run `found` has blocked, and its manifest."""
    story = world()
    manifest = landed(story.store, {"id": 1}, **landing)
    block_it(story, manifest, error)
    return story, manifest


def block_it(story: World, manifest: str, error: str = GUARD, run_id: str = "found") -> None:
    why = Blocked(run_id=run_id, error=error, cause="7 of 9 keys", blocked_at=NOON)
    block(story.store, manifest, why)


class Log:
    """The executions of an account, the newest first."""

    def __init__(self, *runs: ExecutionInfo, **details: ExecutionDetails) -> None:
        self.runs = runs
        self.known = details
        self.asked: list[int] = []

    def newest(self, limit: int) -> Iterator[ExecutionInfo]:
        self.asked.append(limit)
        yield from self.runs[:limit]

    def details(self, name: str) -> ExecutionDetails:
        return self.known[name]


def execution(name: str, status: str = "SUCCEEDED", seconds: float = 90) -> ExecutionInfo:
    ended = None if status == "RUNNING" else NOON + timedelta(seconds=seconds)
    return ExecutionInfo(name, status, NOON, ended)
