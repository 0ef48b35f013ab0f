"""Walks through the pages of an endpoint, and can go on where another call stopped."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from lakekit.config.source import Source
from lakekit.contract.endpoint import Endpoint, path_parts
from lakekit.errors import SourceShapeError
from lakekit.extract.client import Answer, SourceClient
from lakekit.extract.large import LargeRecords, split_large
from lakekit.extract.pagination import (
    Seen,
    first_position,
    next_position,
    request_at,
    total_of,
)
from lakekit.extract.records import cut_records
from lakekit.models import Model


@dataclass(frozen=True)
class Page:
    """One page: its records' exact JSON texts, its number from 1, and how to go on after it.

    `resume` is plain JSON of a few hundred bytes and holds no record. Records of a large page are
    in a file, which is closed when the next page is asked for.
    """

    records: list[bytes] | LargeRecords
    number: int
    resume: dict[str, Any]

    @property
    def last(self) -> bool:
        """Whether nothing comes after this page."""
        return self.resume["position"] is None


class _State(Model):
    """Between two pages. Digests find loops: the last page's, and one at each power of two.

    The second kind finds every circle sooner or later (Brent) without keeping all pages.
    """

    position: str | int | None
    pages: int = 0
    records: int = 0
    calls: int = 0
    total: int | None = None
    last: tuple[str, str] = ("", "")
    anchor: tuple[str, str] = ("", "")


def endpoint_url(source: Source, endpoint: Endpoint) -> str:
    """Return the address of an endpoint's first request, without parameters."""
    return source.base_url + endpoint.path


def extract_pages(
    source: Source,
    endpoint: Endpoint,
    client: SourceClient,
    *,
    resume: dict[str, Any] | None = None,
) -> Iterator[Page]:
    """Yield the pages of an endpoint, after the page that gave `resume` if there is one.

    Raises:
        SourceShapeError: Pages repeat, totals change, or fewer records come than stated; and what
            `SourceClient.send` raises.
    """
    begin = _State(position=first_position(endpoint.paginator))
    state = _State.model_validate(resume) if resume else begin
    client.calls = max(client.calls, state.calls)
    url = endpoint_url(source, endpoint)
    while state.position is not None:
        answer = client.send(request_at(endpoint, url, state.position))
        answer, records = _cut(answer, endpoint.records)
        so_far = state.records + len(records)
        total = total_of(endpoint.paginator, answer)
        if state.pages and total != state.total:
            raise SourceShapeError(f"the total went from {state.total} to {total} between pages")
        marks = (_digest(str(state.position).encode()), _digest_of(records))
        _refuse_loop(state, marks)
        pages = state.pages + 1
        state = _State(
            position=next_position(
                endpoint.paginator, Seen(answer, state.position, len(records), so_far)
            ),
            pages=pages,
            records=so_far,
            calls=client.calls,
            total=total,
            last=marks,
            anchor=marks if pages & (pages - 1) == 0 else state.anchor,
        )
        yield Page(records, pages, state.model_dump(mode="json"))


def _cut(answer: Answer, path: str) -> tuple[Answer, list[bytes] | LargeRecords]:
    if answer.large:
        return split_large(answer, path_parts(path), lambda text: cut_records(text, "$"))
    return answer, cut_records(answer.body, path)


def _digest_of(records: list[bytes] | LargeRecords) -> str:
    if isinstance(records, LargeRecords):
        return records.digest if len(records) else ""
    return _digest(*records) if records else ""


def _refuse_loop(state: _State, marks: tuple[str, str]) -> None:
    for known in (state.last, state.anchor):
        if marks[0] == known[0] or (marks[1] and marks[1] == known[1]):
            raise SourceShapeError(f"page {state.pages + 1} repeats an earlier one")


def _digest(*texts: bytes) -> str:
    digest = sha256()
    for text in texts:
        digest.update(len(text).to_bytes(8, "big") + text)
    return digest.hexdigest()[:32]
