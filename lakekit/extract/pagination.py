"""How each kind of paginator finds its next request; states are plain JSON values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from lakekit.contract.endpoint import (
    Cursor,
    Endpoint,
    LinkHeader,
    NextUrl,
    Offset,
    PageNumber,
    Paginator,
    SinglePage,
)
from lakekit.errors import SourceShapeError
from lakekit.extract.client import Answer, SourceRequest
from lakekit.extract.links import next_link
from lakekit.extract.records import count_at, scalar_at

Position = str | int


@dataclass(frozen=True)
class Seen:
    """One page: its answer, the position it was asked at, its records and those up to it."""

    answer: Answer
    position: Position
    records: int
    records_so_far: int


def first_position(paginator: Paginator) -> Position:
    """Return where an extraction begins; "" is the plain address."""
    if isinstance(paginator, PageNumber):
        return paginator.first_page
    return 0 if isinstance(paginator, Offset) else ""


def request_at(endpoint: Endpoint, url: str, position: Position) -> SourceRequest:
    """Return the request at a position."""
    paginator, params = endpoint.paginator, dict(endpoint.params)
    if isinstance(paginator, PageNumber):
        params[paginator.page_param] = str(position)
    elif isinstance(paginator, Offset):
        params[paginator.offset_param] = str(position)
        params[paginator.limit_param] = str(paginator.limit)
    elif isinstance(paginator, Cursor) and position != "":
        params[paginator.cursor_param] = str(position)
    elif isinstance(paginator, NextUrl | LinkHeader) and position != "":
        return SourceRequest(str(position))  # the source's own address carries all parameters
    return SourceRequest(url, tuple(params.items()))


def total_of(paginator: Paginator, answer: Answer) -> int | None:
    """Return the total that a response states, in pages or records as its paginator counts."""
    if isinstance(paginator, PageNumber | Offset):
        return count_at(answer.body, paginator.total_path)
    return None


def next_position(paginator: Paginator, seen: Seen) -> Position | None:
    """Return where the next request stands, or None at the end.

    Raises:
        SourceShapeError: The pages end before, or go beyond, the stated total.
    """
    find: Callable[[Any, Seen], Position | None] = _FINDERS[type(paginator)]
    return find(paginator, seen)


def _after_page(paginator: PageNumber, seen: Seen) -> Position | None:
    page, total = int(seen.position), total_of(paginator, seen.answer)
    if total is None:
        return page + 1 if seen.records else None
    done = page - paginator.first_page + 1
    if seen.records == 0 and total > 0:
        raise SourceShapeError(f"page {page} is empty, but there should be {total} pages")
    if seen.records and done > total:
        raise SourceShapeError(f"page {page} has records, but there should be {total} pages")
    return page + 1 if done < total else None


def _after_offset(paginator: Offset, seen: Seen) -> Position | None:
    total, so_far = total_of(paginator, seen.answer), seen.records_so_far
    if total is None:
        return so_far if seen.records else None
    if so_far > total or (seen.records == 0 and so_far < total):
        raise SourceShapeError(f"{so_far} records came, but there should be {total}")
    # By what came, not by the limit: a source may cap the limit below what is asked.
    return so_far if so_far < total else None


def _after_cursor(paginator: Cursor, seen: Seen) -> Position | None:
    value = scalar_at(seen.answer.body, paginator.cursor_path)
    return None if value == "" else value


def _after_url(paginator: NextUrl, seen: Seen) -> Position | None:
    value = scalar_at(seen.answer.body, paginator.next_path)
    if isinstance(value, int):
        raise SourceShapeError(f"{paginator.next_path} is not an address")
    return urljoin(seen.answer.url, value) if value else None


def _after_link(_: LinkHeader, seen: Seen) -> Position | None:
    link = next_link(seen.answer.headers)
    return urljoin(seen.answer.url, link) if link else None


def _after_single(_: SinglePage, seen: Seen) -> Position | None:
    if link := next_link(seen.answer.headers):
        raise SourceShapeError(
            f"the source names a next page, {link}, and a single one is read: "
            "give the endpoint a paginator (link_header follows this one)"
        )
    return None


_FINDERS: dict[type, Callable[[Any, Seen], Position | None]] = {
    PageNumber: _after_page,
    Offset: _after_offset,
    Cursor: _after_cursor,
    NextUrl: _after_url,
    LinkHeader: _after_link,
    SinglePage: _after_single,
}
