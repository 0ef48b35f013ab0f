"""Signs of more in the last answer of an extraction, whatever the paginator.

A paginator that is wrong reads one page, and takes it for everything. So the last answer is looked
at as a person would: for a next page, a flag, a total above what came. Names are compared without
case, blanks and marks between their words: `nextPageToken`, `next-page-token`, `NEXT_PAGE_TOKEN`.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from lakekit.contract.endpoint.paths import Every, path_of
from lakekit.errors import SourceShapeError
from lakekit.extract.client import Answer
from lakekit.extract.content.json_paths import (
    JsonText,
    Steps,
    UnreadableError,
    fields_of,
    is_empty,
    kind_of,
    value_of,
)
from lakekit.extract.links import next_link

MOST_LEVELS = 5
MOST_FIELDS = 2_000
MOST_OF_A_NAME = 80

# What a name is made of, word by word; a name is one of these as a whole.
_UNITS = "records?|items?|results?|rows?|hits|entries|elements|objects|docs|documents|matches"
_NEXT = re.compile(
    r"(odata|hydra|paging|pagination|pages?|links?|url|uri|cursor|token|request|ms|wp|meta)*"
    rf"next(pages?|links?|url|uri|href|cursor|token|offset|start|starting|after|marker|key|batch|"
    rf"set|index|skip|continuation|number|id|path|query|params|{_UNITS})*"
    r"|(ms)?continuation(token|key|id|uri|url)?|lastevaluatedkey|(show)?more(link|url|uri|href)"
    r"|cursor"
)
_MORE = re.compile(
    rf"(has|is|are|have)?(any|get)?more(pages?|data|available|exists?|{_UNITS})*"
    r"|hasnext(page)?|(is|results?)?truncated|hasadditional\w*|(is)?incomplete(results)?"
    rf"|(is)?partial(results?)?|timedout|(has)?remaining(pages|{_UNITS})"
)
_PARTIAL = re.compile(r"(is)?incomplete(results)?|(is)?partial(results?)?|timedout")
_LAST = re.compile(
    r"(is)?last(page)?|(is)?done|(is)?finished|(is)?complete|endof\w+|(is)?end|(is)?exhausted"
    r"|(is)?final(page)?|nomore\w*"
)
_RECORDS = re.compile(
    rf"(odata|hydra)?(total|count|found|hits|matches|(total|num|nb)(found|total)"
    rf"|(total|full|overall|grand|num|nb|number)(number)?(of)?(count|size|available|{_UNITS})+"
    rf"|({_UNITS})(count|total|available|found))"
)
_PAGES = re.compile(
    r"(total|num|number|of|nb|max|last|all)*pages?(total|count|max)*|(total|last|max)page(number|no)"
)
_RELATION = {"rel", "relation", "type"}
_PAGING = re.compile(
    r"(meta|metadata|page|paging|pagination|pageinfo|pagemetadata|pageable|info|links?|cursors?|"
    r"summary|responsemetadata|responseheader|responseinfo|header|result|results|resultset|query|"
    r"response|total|hits|data|list|collection|feed|envelope|status|resultinfo|searchinfo|"
    r"listinfo|recordsinfo|ranges?|odata|hydramember|hydraview|view|d)*"
)
_ERRORS = {"error", "errors"}
_NONE = ("", "null", "none", "false")


class Read(NamedTuple):
    """How many pages and records were read."""

    pages: int
    records: int


class Sign(NamedTuple):
    """What an answer shows of more: its path or header, and what that says.

    number, unit: how many pages or records there should be; a sign as long as fewer came.
    """

    name: str
    says: str
    number: int | None = None
    unit: str = ""

    def shows_more(self, read: Read) -> bool:
        """Say whether there is more than was read."""
        came = read.pages if self.unit == "pages" else read.records
        return self.number is None or self.number > came

    def __str__(self) -> str:
        """Return the name and what it says."""
        return f"{self.name} {self.says}"


def find_signs(
    answer: Answer, text: JsonText | None, records: Steps, declared: Collection[str]
) -> list[Sign]:
    """Return what in an answer shows, or may show, that there is more.

    Args:
        answer: What came.
        text: Its JSON, if it has any.
        records: The path of its records, which are not looked at.
        declared: Paths and headers that the paginator goes by.
    """
    found = [*_in_headers(answer)]
    if text:
        cut = records.index(Every) if Every in records else len(records)
        found += _in_body(text, records[:cut])
    lower = {each.lower() if not each.startswith("$") else each for each in declared}
    return [
        sign for sign in found
        if (sign.name if sign.name.startswith("$") else sign.name.lower()) not in lower
    ]  # fmt: skip


def partial_signs(text: JsonText | None, records: Steps) -> list[Sign]:
    """Return what at the top of an answer shows that it is not whole, on whichever page."""
    if not text or not records or not isinstance(records[0], str):
        return []
    found: list[Sign] = []
    for name, value in text.fields(()).items():
        plain = _plain(name)
        if plain in _ERRORS or _PARTIAL.fullmatch(plain):
            found += _of_text((name,), value, counts=True, budget=[MOST_LEVELS])
    return found


def _in_headers(answer: Answer) -> Iterator[Sign]:
    try:
        if next_link(answer.headers) is not None:
            yield Sign("Link", "names a next page: link_header follows this one")
    except SourceShapeError as error:
        yield Sign("Link", str(error))
    if answer.status == 206 and not answer.headers.get("Content-Range"):
        yield Sign("Content-Range", "is absent, and status 206 says that this is a part")
    for name, value in answer.headers.items():
        plain = re.sub(r"^x?(wp|pagination|paging)?(?=.)", "", _plain(name))
        if plain == "contentrange":
            yield from _in_range(name, value, answer.status)
        elif plain not in ("link", "nextsteps") and not value.lstrip().startswith("{"):
            yield from _of_value(name, plain, value.strip(), counts=True)
        elif value.lstrip().startswith("{") and _PAGING.fullmatch(plain):
            yield from _in_json_header(name, value)


def _in_range(name: str, value: str, status: int) -> Iterator[Sign]:
    found = re.fullmatch(r"\s*([\w-]*)\s*(?:\d+-(\d+)|\*)/(\d+|\*)\s*", value)
    if not found or found[3] == "*":
        if status == 206:
            yield Sign(name, f"is {value[:80]!r}, and status 206 says that this is a part")
    elif found[1] != "bytes":
        yield Sign(name, f"is {value.strip()}", int(found[3]), "records")
    elif int(found[2] or -1) + 1 < int(found[3]):
        yield Sign(name, f"is {value.strip()}")


def _in_json_header(name: str, value: str) -> Iterator[Sign]:
    try:
        fields = msgspec.json.decode(value.encode())
    except msgspec.DecodeError:
        return
    for key, each in fields.items() if isinstance(fields, dict) else ():
        for sign in _of_value(name, _plain(str(key)), each, counts=True):
            yield sign._replace(name=name, says=f"has {key}, which {sign.says}")


def _in_body(text: JsonText, records: Steps) -> Iterator[Sign]:
    budget = [MOST_FIELDS]
    for end in range(len(records)):
        above, step = records[:end], records[end]
        if text.at(above) in (None, b"null"):
            return
        if isinstance(step, int):
            others = enumerate(text.items(above))
            siblings: list[tuple[Any, bytes]] = [(n, each) for n, each in others if n != step]
        else:
            siblings = [(n, each) for n, each in text.fields(above).items() if n != step]
        for name, value in siblings:
            yield from _of_text((*above, name), value, counts=True, budget=budget)


def _of_text(path: Steps, text: bytes, *, counts: bool, budget: list[int]) -> Iterator[Sign]:
    """Yield the signs of one value of a body, and of what is below it."""
    budget[0] -= 1
    if budget[0] < 0 or len(path) > MOST_LEVELS:
        return
    name = _plain(str(path[-1]))
    shown = path_of(path)
    if kind_of(text) == "an object":
        if name in _ERRORS and counts and not is_empty(text):
            yield Sign(shown, "is an error")
        if _NEXT.fullmatch(name) and _holds(text):
            yield Sign(shown, "names a next page")
            return
        is_paging = isinstance(path[-1], int) or _PAGING.fullmatch(name) is not None
        below = counts and is_paging
        for key, value in _fields(text).items():
            yield from _of_text((*path, key), value, counts=below, budget=budget)
    elif kind_of(text) == "a list":
        if name in _ERRORS and counts and not is_empty(text):
            yield Sign(shown, "is an error")
        if name in ("link", "links") and _relates_to_next(text):
            yield Sign(shown, "names a next page")
    else:
        yield from _scalar(path, text, counts=counts)


def _scalar(path: Steps, text: bytes, *, counts: bool) -> Iterator[Sign]:
    shown, name = path_of(path), _plain(str(path[-1]))
    if name == "value" and len(path) > 1:  # a total with how exact it is
        name = _plain(str(path[-2]))
    try:
        value = value_of(text, shown)
    except SourceShapeError:
        return
    if name in _ERRORS and counts and not is_empty(text):
        yield Sign(shown, f"is {_short(value)}")
    yield from _of_value(shown, name, value, counts=counts)


def _of_value(shown: str, name: str, value: Any, *, counts: bool) -> Iterator[Sign]:
    number = _count(value)
    if _MORE.fullmatch(name):
        if _is_yes(value):
            yield Sign(shown, f"is {_short(value)}")
    elif _NEXT.fullmatch(name):
        if value is not False and str(value).lower() not in _NONE:
            yield Sign(shown, "names a next page")
    elif _LAST.fullmatch(name) and str(value).lower() == "false":
        yield Sign(shown, f"is {_short(value)}")
    elif not counts or number is None or name == "page":
        return
    elif _PAGES.fullmatch(name):
        yield Sign(shown, f"is {number} pages", number, "pages")
    elif _RECORDS.fullmatch(name):
        yield Sign(shown, f"is {number} records", number, "records")


def _is_yes(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() not in (*_NONE, "no", "n", "0")
    return bool(value)


def _relates_to_next(text: bytes) -> bool:
    """Say whether a list of links, as `[{"rel": "next", …}]`, has one to a next page."""
    try:
        links = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return any(
        isinstance(link, Mapping)
        and any(_plain(str(k)) in _RELATION and str(v).lower() == "next" for k, v in link.items())
        for link in links[:100]
    )


def _holds(text: bytes) -> bool:
    """Say whether an object holds anything but null and what is empty."""
    return any(
        _holds(each) if kind_of(each) == "an object" else not is_empty(each)
        for each in _fields(text).values()
    )


def _fields(text: bytes) -> dict[str, bytes]:

    try:
        return fields_of(text)
    except UnreadableError:
        return {}


def _count(value: Any) -> int | None:
    """Return a whole number, or a text of digits as one."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,15}", value):
        return int(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and value == value // 1 else None


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name[:MOST_OF_A_NAME]).lower()


def _short(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)[:80]
