"""The policies of roles, and whether they allow what a request needs."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

Context = Mapping[str, str]


class UnknownConditionError(Exception):
    """A policy has an operator that is not evaluated here."""


@dataclass(frozen=True)
class Need:
    """One action on one resource, with what a condition may ask for."""

    action: str
    resource: str
    context: Context = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return f"{self.action} on {self.resource}"


@dataclass(frozen=True)
class Statement:
    """A statement of a policy, with patterns of actions and of resources."""

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    allows: bool = True
    conditions: tuple[tuple[str, str, tuple[str, ...]], ...] = ()

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> "Statement":
        """Read a statement of a document.

        Raises:
            UnknownConditionError: It has an operator that is not known.
            KeyError: It has no `Action` or no `Resource`, such as one with `NotAction`.
        """
        conditions = tuple(
            (operator, key, tuple(_listed(values)))
            for operator, keys in given.get("Condition", {}).items()
            for key, values in keys.items()
        )
        if unknown := sorted({operator for operator, _, _ in conditions} - OPERATORS.keys()):
            raise UnknownConditionError(", ".join(unknown))
        return cls(
            tuple(_listed(given["Action"])),
            tuple(_listed(given["Resource"])),
            given["Effect"] == "Allow",
            conditions,
        )

    def covers(self, need: Need) -> bool:
        """Say whether the statement is about an action on a resource, as its conditions have it."""
        return (
            any(matches(pattern.lower(), need.action.lower()) for pattern in self.actions)
            and any(matches(pattern, need.resource) for pattern in self.resources)
            and all(
                OPERATORS[operator](need.context.get(key), values)
                for operator, key, values in self.conditions
            )
        )


def allowed(statements: Iterable[Statement], need: Need) -> bool:
    """Say whether a role may do something: one statement allows it, and none denies it."""
    about = [each.allows for each in statements if each.covers(need)]
    return bool(about) and all(about)


def parse_document(document: Mapping[str, Any]) -> tuple[Statement, ...]:
    """Read the statements of a policy's document."""
    return tuple(Statement.parse(each) for each in _listed(document["Statement"]))


def matches(pattern: str, text: str) -> bool:
    """Say whether a text is what a pattern with `*` and `?` says.

    Example:
        >>> matches("arn:aws:s3:::b/raw/*", "arn:aws:s3:::b/raw/x/y")
        True
        >>> matches("a.c", "abc")
        False
    """
    return _expression(pattern).fullmatch(text) is not None


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    parts = {"*": ".*", "?": "."}
    return re.compile("".join(parts.get(each, re.escape(each)) for each in pattern), re.DOTALL)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_one_of(value: str | None, wanted: tuple[str, ...]) -> bool:
    return value is not None and value in wanted


def _is_like(value: str | None, wanted: tuple[str, ...]) -> bool:
    return value is not None and any(matches(each, value) for each in wanted)


def _has_no_other(value: str | None, wanted: tuple[str, ...]) -> bool:
    return value is None or value in wanted


OPERATORS = {
    "ArnEquals": _is_like,
    "ArnLike": _is_like,
    "StringEquals": _is_one_of,
    "StringLike": _is_like,
    "ForAllValues:StringEquals": _has_no_other,
}
