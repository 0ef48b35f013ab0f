"""The text of a scope: a JSON object, whose values stay as they were written."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from lakekit.sql.identifiers import quote


def members(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names of a JSON object and the text of their values."""
    decoder, at = json.JSONDecoder(), 1
    while at < len(text):
        name, end = decoder.raw_decode(text, at)
        _, at = decoder.raw_decode(text, end + 1)
        yield name, text[end + 1 : at]
        at += 1


def scope_of(parts: Iterable[tuple[str, str]]) -> str:
    """Return the text of a scope: names, and the text of their values."""
    return "{" + ",".join(f'"{name}":{value}' for name, value in parts) + "}"


def with_new_names(text: str, renames: Mapping[str, str]) -> str:
    """Return the text of a scope once columns are renamed.

    Example:
        >>> with_new_names('{"region":"x","Size":1.0}', {"region": "area", "size": "n"})
        '{"area":"x","n":1.0}'
    """
    now = {old.lower(): new for old, new in renames.items()}
    return scope_of((now.get(name.lower(), name), value) for name, value in members(text))


def are_among(some: Collection[str], others: Collection[str]) -> bool:
    """Say whether scopes are among others, in whatever order their columns are named.

    Example:
        >>> are_among(['{"a":1,"b":2}'], ['{"b":2,"a":1}', '{"b":3,"a":1}'])
        True
    """
    said, known = ({_members(text) for text in texts} for texts in (some, others))
    return said <= known


def _members(text: str) -> frozenset[tuple[str, str]]:
    return frozenset((name.lower(), value) for name, value in members(text))


def scope_text(scope: Sequence[str]) -> str:
    """Return the expression of a row's scope as JSON text, nulls included."""
    if not scope:
        return "CAST(NULL AS string)"
    return f"to_json(struct({', '.join(map(quote, scope))}), map('ignoreNullFields', 'false'))"
