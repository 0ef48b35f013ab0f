"""Where the next request of each way of paging is, and whether the last one may be the last."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

import msgspec

from lakekit.contract.endpoint.paginators import (
    Cursor,
    Keyset,
    LinkHeader,
    NextUrl,
    Offset,
    PageNumber,
    Paginator,
    SinglePage,
    Total,
)
from lakekit.contract.endpoint.paths import path_steps
from lakekit.errors import SourceShapeError
from lakekit.extract.client import Answer
from lakekit.extract.content.json_paths import JsonText, UnreadableError, kind_of, value_of
from lakekit.extract.content.records import Content
from lakekit.extract.links import next_link
from lakekit.extract.requests import Position

_NO_VALUE = (b"null", b'""')


@dataclass(frozen=True)
class Seen:
    """One page: its answer, the position it was asked at, and what was read up to it.

    new_records: those that earlier pages do not have. total: what the source states.
    """

    answer: Answer
    content: Content
    position: Position
    pages: int
    records: int
    new_records: int
    total: int | None
    base_url: str

    @property
    def is_empty(self) -> bool:
        """Whether the page has no records that earlier ones do not have."""
        return self.new_records == 0


def first_position(paginator: Paginator) -> Position:
    """Return where an extraction begins; "" is the plain address."""
    if isinstance(paginator, PageNumber):
        return paginator.first_page
    return 0 if isinstance(paginator, Offset) else ""


def next_position(paginator: Paginator, seen: Seen) -> Position | None:
    """Return where the next request is, or None at the end.

    Raises:
        SourceShapeError: What the answer says of its next page does not fit together.
    """
    if isinstance(paginator, SinglePage):
        return None
    more = _flag(paginator, seen)
    if more is False:
        return None
    find: Callable[[Any, Seen, bool], Position | None] = _FINDERS[type(paginator)]
    found = find(paginator, seen, bool(more))
    if more and found is None:
        raise SourceShapeError(f"{paginator.flag} says that there is more, but not where")
    return found


def read_total(paginator: Paginator, answer: Answer, content: Content) -> int | None:
    """Return the total that an answer states, or None.

    Raises:
        SourceShapeError: What is declared to be one is no count.
    """
    total = stated_total(paginator)
    if total is None:
        return None
    if total.header is not None:
        name, value = total.header, answer.headers.get(total.header)
    else:
        name = total.path or ""
        value = content.value(name)
    if value is None and total.appears == "first_page":
        return None
    return _count(value, name)


def stated_total(paginator: Paginator) -> Total | None:
    """Return the declaration of the total, if there is one."""
    return None if isinstance(paginator, SinglePage) else paginator.stated_total


def counts_pages(paginator: Paginator) -> bool:
    """Whether the stated total is a number of pages."""
    total = stated_total(paginator)
    usual = "pages" if isinstance(paginator, PageNumber) else "records"
    return bool(total) and (total.counts or usual) == "pages"  # type: ignore[union-attr]


def refuse_wrong_total(paginator: Paginator, total: int | None, pages: int, records: int) -> None:
    """Refuse an end at which not as much came as the source stated.

    Raises:
        SourceShapeError: More or less came.
    """
    stated = stated_total(paginator)
    if stated is None or total is None:
        return
    if counts_pages(paginator):
        # An empty page may say that there are none.
        if pages != total and not (total == 0 and records == 0):
            raise SourceShapeError(f"{pages} pages came, but there should be {total}")
    elif records < total or (records > total and stated.changes == "refused"):
        raise SourceShapeError(f"{records} records came, but there should be {total}")


def may_end_unsaid(paginator: Paginator) -> bool:
    """Whether an empty page or a status ends the pages, and no page says that it is the last."""
    if isinstance(paginator, SinglePage):
        return False
    by_empty_page = isinstance(paginator, PageNumber | Offset | Keyset) or (
        isinstance(paginator, Cursor) and paginator.constant
    )
    says = paginator.flag or (paginator.stated_total and not isinstance(paginator, Cursor))
    return bool(paginator.end_statuses) or (by_empty_page and not says)


def declared_by(paginator: Paginator) -> set[str]:
    """Return the paths and headers that a paginator goes by; it has judged them itself."""
    if isinstance(paginator, SinglePage):
        return set()
    total = paginator.stated_total or Total()
    names = {total.path, total.header, paginator.flag}
    if isinstance(paginator, Cursor):
        names |= {paginator.cursor_path, paginator.cursor_header}
    elif isinstance(paginator, NextUrl):
        names |= {paginator.next_path}
    elif isinstance(paginator, LinkHeader):
        names |= {"Link"}
    return {name for name in names if name}


def _count(value: Any, name: str) -> int:
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or value < 0 or value != value // 1:
        shown = "absent or null" if value is None else repr(value)[:80]
        raise SourceShapeError(f"{name} is not a count: it is {shown}")
    return int(value)


_YES, _NO = (True, 1, "true", "1", "yes", "y"), (False, 0, "false", "0", "no", "n")


def _flag(paginator: Any, seen: Seen) -> bool | None:
    """Return whether there is a next page, if a flag says so."""
    if paginator.flag is None:
        return None
    value = seen.content.value(paginator.flag)
    plain = value.strip().lower() if isinstance(value, str) else value
    if not isinstance(plain, bool | int | str) or plain not in (*_YES, *_NO):
        shown = "absent or null" if value is None else repr(value)[:80]
        raise SourceShapeError(f"{paginator.flag} is neither true nor false: it is {shown}")
    return (plain in _YES) == (paginator.has_more is not None)


def _after_page(paginator: PageNumber, seen: Seen, more: bool) -> Position | None:
    following = int(seen.position) + 1
    return following if more or _goes_on(paginator, seen) else None


def _after_offset(paginator: Offset, seen: Seen, more: bool) -> Position | None:
    # By what came, not by the limit: a source may cap the limit below what is asked.
    reached = int(seen.position) + len(seen.content.records)
    if seen.is_empty:
        reached += paginator.limit
    if not (more or _goes_on(paginator, seen)):
        return None
    return max(reached - paginator.overlap, int(seen.position) + 1)


def _goes_on(paginator: PageNumber | Offset, seen: Seen) -> bool:
    """Say whether pages that are counted go on, by the total or else by the page itself."""
    if seen.total is None:
        return not seen.is_empty
    in_pages = counts_pages(paginator)
    so_far = seen.pages if in_pages else seen.records
    lacks_some = so_far < seen.total or (in_pages and seen.total > 0 and seen.pages > 1)
    if seen.is_empty and lacks_some and paginator.empty_pages == "end":
        what = "pages" if in_pages else "records"
        where = f"page {seen.pages}" if isinstance(paginator, PageNumber) else "a page"
        raise SourceShapeError(
            f"{where} is empty after {seen.records} records, but there should be "
            f"{seen.total} {what}"
        )
    return so_far < seen.total


def _after_cursor(paginator: Cursor, seen: Seen, _: bool) -> Position | None:
    if paginator.cursor_header is not None:
        header = seen.answer.headers.get(paginator.cursor_header, "").strip()
        text = msgspec.json.encode(header) if header else None
    else:
        text = seen.content.at(paginator.cursor_path or "")
    if text is None or text in _NO_VALUE or (paginator.constant and seen.is_empty):
        return None
    name = paginator.cursor_header or paginator.cursor_path or ""
    value = value_of(text, name)
    if any(_same(value, end, from_header=paginator.cursor_header is not None)
           for end in paginator.end_values):  # fmt: skip
        return None
    return text.decode()


def _same(value: Any, end: Any, *, from_header: bool) -> bool:
    """Say whether a cursor is a value that was declared as the end; those of headers are texts."""
    if from_header and not isinstance(end, str):
        end = msgspec.json.encode(end).decode()
    return type(value) is type(end) and bool(value == end)


def _after_key(paginator: Keyset, seen: Seen, _: bool) -> Position | None:
    if seen.is_empty:
        return None
    try:
        text = JsonText(seen.content.last).at(path_steps(paginator.key_path))
    except UnreadableError:
        text = None
    if text is None or text in _NO_VALUE:
        raise SourceShapeError(f"the last record of page {seen.pages} has no {paginator.key_path}")
    value_of(text, paginator.key_path)
    return text.decode()


def _after_url(paginator: NextUrl, seen: Seen, _: bool) -> Position | None:
    text = seen.content.at(paginator.next_path)
    if text is None or text in _NO_VALUE:
        return None
    if kind_of(text) != "a text":
        raise SourceShapeError(f"{paginator.next_path} is not an address")
    return _at_home(str(value_of(text, paginator.next_path)), seen)


def _after_link(_: LinkHeader, seen: Seen, _more: bool) -> Position | None:
    link = next_link(seen.answer.headers)
    return None if link is None else _at_home(link, seen)


def _at_home(link: str, seen: Seen) -> str:
    """Return a link as an address; https if only that differs from the source's own.

    A proxy that ends TLS hides it from the source behind it.
    """
    try:
        url = urljoin(seen.answer.url, link.strip())
        base, found = urlsplit(seen.base_url), urlsplit(url)
        is_own = (found.hostname, found.port or 80) == (base.hostname, 80) and not base.port
    except ValueError:
        raise SourceShapeError("what should be the address of the next page is none") from None
    if is_own and (base.scheme, found.scheme) == ("https", "http"):
        return found._replace(scheme="https", netloc=base.netloc).geturl()
    return url


_FINDERS: dict[type, Callable[[Any, Seen, bool], Position | None]] = {
    PageNumber: _after_page,
    Offset: _after_offset,
    Cursor: _after_cursor,
    Keyset: _after_key,
    NextUrl: _after_url,
    LinkHeader: _after_link,
}
