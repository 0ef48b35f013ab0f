"""Tests of all that a value holds, however deep, as SQL text."""

from collections.abc import Container, Mapping

from lakekit.sql.identifiers import quote
from lakekit.sqltypes import SqlType


def holds(kind: SqlType, names: Container[str]) -> bool:
    """Whether a type is or holds one of some names; the keys of maps are texts."""
    return kind.name in names or any(holds(part, names) for _, part in kind.fields)


def any_part(kind: SqlType, value: str, tests: Mapping[str, str]) -> str:
    """Return whether one of the parts of a value passes the test of its type; never null.

    Args:
        kind: The value's type; it holds one of those that are tested.
        value: The value.
        tests: By the name of a type, an expression over `{0}`.
    """
    if kind.name in tests:
        return f"coalesce({tests[kind.name].format(value)}, false)"
    if kind.name == "struct":
        parts = [(f"{value}.{quote(name)}", part) for name, part in kind.fields]
        found = [any_part(part, each, tests) for each, part in parts if holds(part, tests)]
        return f"({' OR '.join(found)})"
    _, element = kind.fields[-1]
    elements = f"map_values({value})" if kind.name == "map" else value
    return f"coalesce(exists({elements}, each -> {any_part(element, 'each', tests)}), false)"
