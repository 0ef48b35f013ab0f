"""A check of an account, and what it finds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from lakekit.config.environment import Environment
from lakekit.config.source import Source

State = Literal["ok", "warning", "failed", "unknown"]


class Answer(NamedTuple):
    """What was found of one thing; `text` says what to do about it."""

    state: State
    subject: str
    text: str


@dataclass(frozen=True)
class Account:
    """An environment with its sources, and how its account is reached.

    client: makes a client of a service, by the service's name. probe: whether a check may write
    an object below `doctor/` of the landing bucket, and remove it again.
    """

    environment: Environment
    sources: tuple[Source, ...]
    client: Callable[[str], Any]
    probe: bool = False


@dataclass(frozen=True)
class Check:
    """One question to an account.

    about: what it looks at. confirms: the line of `docs/unverified-on-aws.md` that it answers.
    """

    name: str
    about: str
    ask: Callable[[Account], Iterator[Answer]]
    confirms: str | None = None
