"""The `Link` header, read by RFC 8288.

`response.links` of requests cuts at any `;` and `,`, and misses `rel="first next"` and `REL=Next`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lakekit.errors import SourceShapeError

_BLANK = r"[ \t]*"
_TARGET = re.compile(rf"{_BLANK}<([^<>]*)>")
_PARAM = re.compile(
    rf"{_BLANK};{_BLANK}(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)"
    rf'(?:{_BLANK}={_BLANK}(?:"((?:[^"\\]|\\.)*)"|([^\s",;<>]+)))?)?',
    re.DOTALL,
)
_BETWEEN = re.compile(rf"{_BLANK}(?:,|$)")
_EMPTY = re.compile(r"[ \t,]*")


class Link(NamedTuple):
    """Where a link leads, as it was written, and its relations in lower case."""

    target: str
    relations: frozenset[str]


def parse_links(text: str) -> list[Link]:
    """Return the links of a header's value.

    Raises:
        ValueError: It is none by RFC 8288.

    Example:
        >>> parse_links('</a;b?x=1,2>; title="; rel=next"; REL="Next last"')[0].target
        '/a;b?x=1,2'
    """
    return list(_links(text))


def next_link(headers: Mapping[str, str]) -> str | None:
    """Return where the `Link` header says the next page is.

    Raises:
        SourceShapeError: It is not readable, or names several next pages.
    """
    try:
        links = parse_links(headers.get("Link", ""))
    except ValueError as error:
        raise SourceShapeError(f"the Link header is not as RFC 8288 has it: {error}") from None
    targets = {link.target for link in links if "next" in link.relations}
    if len(targets) > 1:
        raise SourceShapeError("the Link header names several next pages")
    return targets.pop() if targets else None


def _links(text: str) -> Iterator[Link]:
    at = _end(_EMPTY, text, 0)
    while at < len(text):
        found = _TARGET.match(text, at)
        if not found:
            raise ValueError(f"no <address> at character {at + 1}")
        at, relations = found.end(), None
        while param := _PARAM.match(text, at):
            at = param.end()
            # Of several `rel` the first one counts.
            if (param[1] or "").lower() == "rel" and relations is None:
                relations = param[3] or re.sub(r"\\(.)", r"\1", param[2] or "")
        if not _BETWEEN.match(text, at):
            raise ValueError(f"neither parameter nor link at character {at + 1}")
        yield Link(found[1].strip(), frozenset((relations or "").lower().split()))
        at = _end(_EMPTY, text, at)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
