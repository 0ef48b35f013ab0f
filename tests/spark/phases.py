"""The phases of the commit protocol, each open to what may happen at its end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from lakekit.spark import publish, scd2, writing
from lakekit.spark.facts import Facts

# What is called next when a phase has ended; of the last one, what ended it.
NEXT = {
    "pin": (scd2, "plan_run"),
    "plan": (scd2, "publish"),
    "branch": (Facts, "remember"),
    "facts": (publish, "write"),
    "merge": (writing, "_append"),
    "append": (publish, "_check"),
    "check": (publish, "fast_forward"),
    # Of a run that has only facts to tell.
    "told": (publish, "leave"),
}
PHASES = ["plan", "branch", "merge", "append", "check", "fast-forward"]


class Crash(BaseException):
    """The process is gone: no handler of errors sees it."""


@contextmanager
def crash_at_the_end_of(monkeypatch: pytest.MonkeyPatch, phase: str) -> Iterator[None]:
    """End the next merge as a killed process does: its branch and its staged files stay."""

    def crash() -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(publish, "drop_branch", lambda *_: None)
        patch.setattr(scd2, "drop_staging", lambda *_: None)
        at_the_end_of(patch, phase, crash)
        with pytest.raises(Crash):
            yield


def at_the_end_of(monkeypatch: pytest.MonkeyPatch, phase: str, event: Callable[[], Any]) -> None:
    """Let something happen once, when the next merge has come to the end of a phase."""
    place, name = NEXT.get(phase, (publish, "fast_forward"))
    real, met = getattr(place, name), []

    def once() -> None:
        if not met:
            met.append(phase)
            event()

    def called(*arguments: Any) -> Any:
        if phase in NEXT:
            once()
            return real(*arguments)
        done = real(*arguments)
        once()
        return done

    monkeypatch.setattr(place, name, called)
