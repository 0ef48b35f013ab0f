"""Questions with a proposal each, and who answers them: a person, or `--yes`."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from getpass import getpass
from textwrap import fill
from typing import Any, Generic, Protocol, TypeVar

from lakekit.cli.output import lines, say, write
from lakekit.errors import InvalidStepInputError

Answer = TypeVar("Answer")
# A longer proposal is the first line of what was seen.
_SHORT = 30
_WIDTH = 79


class Doubt(ValueError):
    """An answer that does not fit what was seen; the same answer once more is taken."""


@dataclass(frozen=True)
class Question(Generic[Answer]):
    """What is asked.

    proposal: what Enter takes; "" if there is none. saw: a line for each thing that speaks for an
    answer. read: makes the answer of a text, or raises ValueError, or Doubt the first time. option:
    that of the command line which answers it too.
    """

    name: str
    text: str
    proposal: str
    read: Callable[[str, bool], Answer]
    saw: Sequence[str] = field(default_factory=tuple)
    option: str = ""


class Asker(Protocol):
    """Who answers."""

    def ask(self, question: Question[Answer]) -> Answer:
        """Return an answer that the question can read."""

    def secret(self, name: str) -> str:
        """Return the value of a secret."""


class Person:
    """Asks at a terminal, again as long as an answer cannot be read."""

    def __init__(
        self, read_line: Callable[[], str] = input, hidden: Callable[[str], str] = getpass
    ) -> None:
        self._read_line, self._hidden = read_line, hidden

    def ask(self, question: Question[Answer]) -> Answer:
        """Return an answer that the question can read."""
        say(f"\n{question.text}")
        for each in question.saw:
            say(_folded(each))
        doubted = None
        while True:
            short = question.proposal if len(question.proposal) <= _SHORT else "the first"
            shown = f" [{short}]" if short else ""
            write(lines(f"{question.name}{shown}: "))
            text = self._line(question.name, self._read_line).strip() or question.proposal
            try:
                return question.read(text, text == doubted)
            except Doubt as doubt:
                doubted = text
                say(_folded(f"{doubt}; the same answer again takes it"))
            except ValueError as error:
                say(_folded(str(error)))

    def secret(self, name: str) -> str:
        """Return the value of a secret, which is not shown while it is typed."""
        prompt = f"value of {name} (not shown, not stored): "
        return self._line(name, lambda: self._hidden(prompt))

    def _line(self, name: str, read: Callable[[], str]) -> str:
        try:
            return read()
        except (EOFError, KeyboardInterrupt):
            raise InvalidStepInputError(
                f"no answer to '{name}'; nothing is written"
            ) from None  # fmt: skip


class Proposals:
    """Takes each proposal and lists it, for `--yes`."""

    def ask(self, question: Question[Answer]) -> Answer:
        """Return what the question proposes.

        Raises:
            InvalidStepInputError: It proposes nothing.
        """
        seen = _first_of(question)
        if not question.proposal:
            way = f"give {question.option}" if question.option else "answer it without --yes"
            raise InvalidStepInputError(f"{question.name}: nothing can be proposed{seen}; {way}")
        say(f"{question.name}: {question.proposal}{seen}")
        try:
            return question.read(question.proposal, True)
        except ValueError as error:
            raise InvalidStepInputError(f"{question.name}: {error}") from None

    def secret(self, name: str) -> str:
        """Refuse: a value must be given."""
        raise InvalidStepInputError(f"the API wants a secret; give --secret {name}=VALUE")


def _first_of(question: Question[Any]) -> str:
    """Return what was seen of a proposal, in brackets; nothing if nothing was."""
    if not question.saw:
        return ""
    first = " ".join(question.saw[0].removeprefix(f"{question.proposal}: ").split())
    others = len(question.saw) - 1
    is_own = question.saw[0].startswith(f"{question.proposal}: ")
    more = f"; and {others} more" if others and not is_own and question.proposal else ""
    return f"  ({first}{more})"


def _folded(text: str) -> str:
    """Return a line of what was seen, folded for a narrow terminal."""
    return fill(
        text,
        _WIDTH,
        initial_indent="  ",
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )


def chosen_asker(yes: bool) -> Asker:
    """Return who answers.

    Raises:
        InvalidStepInputError: No one can: there is no terminal, and no --yes.
    """
    if yes:
        return Proposals()
    if not sys.stdin.isatty():
        raise InvalidStepInputError(
            "questions need a terminal; --yes takes the proposals and lists them"
        )
    return Person()
