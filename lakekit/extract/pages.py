"""Walks through the pages of an endpoint, and can go on where another call stopped."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Protocol

from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.contract.endpoint import Endpoint
from lakekit.contract.endpoint.paginators import Cursor, Offset
from lakekit.contract.endpoint.paths import path_of, path_steps
from lakekit.contract.endpoint.placeholders import RunValues
from lakekit.errors import SourceRejectedError, SourceShapeError, SourceUnavailableError
from lakekit.extract.client import Answer, SourceClient, SourceRequest
from lakekit.extract.content.json_paths import UnreadableError, fields_of
from lakekit.extract.content.large import Records, digest_of
from lakekit.extract.content.records import Content, read_content
from lakekit.extract.http.bodies import MEGABYTE
from lakekit.extract.http.waiting import retry_after
from lakekit.extract.pagination import (
    Seen,
    declared_by,
    first_position,
    may_end_unsaid,
    next_position,
    read_total,
    refuse_wrong_total,
    stated_total,
)
from lakekit.extract.requests import Position, Requests, end_statuses
from lakekit.extract.signs import Read, Sign, find_signs, partial_signs
from lakekit.json_text.lines import value_along
from lakekit.models import Model

READ_STATUSES = (200, 201, 203, 206)
# Of the pages before, those that are recognised when they come again, and the length of a mark.
MOST_SEEN, _MARK = 1000, 12


@dataclass(frozen=True)
class Page:
    """One page: its records' exact texts, its number from 1, and how to go on after it.

    `resume` is plain JSON of some kilobytes at most and holds no record. Records of a large page
    are in a file, which is closed when the next page is asked for. wait_seconds: before the next
    one, where the source is not ready.
    """

    records: Iterable[bytes]
    number: int
    resume: dict[str, Any]
    wait_seconds: int = 0

    @property
    def last(self) -> bool:
        """Whether nothing comes after this page."""
        return self.resume["position"] is None


class PageRequests(Protocol):
    """Makes the request for each page."""

    def at(self, position: Position) -> SourceRequest:
        """Return the request at a position; "" is that of the first page."""


class _State(Model):
    """Between two pages. Digests find loops: the last page's, and one at each power of two.

    The second kind finds every circle sooner or later (Brent) without keeping all pages. seen:
    marks of the newest pages with records, with blanks between them, so that one that comes again
    is found at once. key: digest of the last record's key, where pages overlap. signs: those of
    more on the last page with records, where an empty one or a status may follow that is the end.
    stated: how many pages and records there should be.
    """

    position: str | int | None
    pages: int = 0
    records: int = 0
    calls: int = 0
    total: int | None = None
    last: tuple[str, str] = ("", "")
    anchor: tuple[str, str] = ("", "")
    seen: str = ""
    key: str = ""
    signs: tuple[Sign, ...] = ()
    stated: dict[str, Sign] = {}


def endpoint_url(source: Source, endpoint: Endpoint) -> str:
    """Return the address of an endpoint's first request: without parameters, not filled."""
    return f"{source.address}{endpoint.path}"


def extract_pages(
    source: Source,
    contract: Contract,
    client: SourceClient,
    values: RunValues,
    *,
    resume: dict[str, Any] | None = None,
    requests: PageRequests | None = None,
) -> Iterator[Page]:
    """Yield the pages of a contract's endpoint, after the page that gave `resume` if there is one.

    Args:
        source: Where the endpoint is.
        contract: Of the endpoint; cells of CSV and texts of XML become JSON of its types.
        client: Sends the requests.
        values: What placeholders stand for.
        resume: Where to go on.
        requests: Instead of those that the endpoint says.

    Raises:
        SourceShapeError: Pages repeat, totals do not fit, an answer lacks its records, or the last
            one shows that there is more; and what `SourceClient.send` raises.
    """
    begin = _State(position=first_position(contract.endpoint.paginator))
    state = _State.model_validate(resume) if resume else begin
    client.calls = max(client.calls, state.calls)
    requests = requests or Requests(source.address, contract.endpoint, values)
    walk = _Walk(source, contract, client, requests)
    while state.position is not None:
        records, state = walk.step(state, state.position)
        yield Page(records, state.pages, state.model_dump(mode="json"))


class _Walk:
    """From one page of an endpoint to the next."""

    def __init__(
        self, source: Source, contract: Contract, client: SourceClient, requests: PageRequests
    ) -> None:
        self._base_url = source.address
        self._most_bytes = source.max_response_mb * MEGABYTE
        self._contract = contract
        self._endpoint = contract.endpoint
        self._paginator = contract.endpoint.paginator
        self._steps = path_steps(contract.endpoint.records)
        self._client = client
        self._requests = requests

    def step(self, state: _State, position: Position) -> tuple[Records, _State]:
        """Read the page at a position; return its records, and the state after it."""
        answer, content = self._ask(self._requests.at(position), state)
        if content is None:
            return [], self._at_end_status(state)
        total = self._total(state, answer, content)
        records, pages = content.records, state.pages + 1
        marks = (_digest(str(position).encode()), digest_of(records))
        self._refuse_loop(state, marks)
        new = len(records) - self._repeated(state, records)
        so_far = self._so_far(state, position, records, new)
        seen = Seen(answer, content, position, pages, so_far, new, total, self._base_url)
        following = next_position(self._paginator, seen)
        self._refuse_partial(seen)
        found = self._signs(seen) if self._is_searched(following, pages) else []
        signs = [sign for sign in found if sign.number is None]
        if not records:
            signs += [sign for sign in state.signs if not _is_repealed(sign, seen)]
        stated = {sign.name: sign for sign in found if sign.number is not None}
        after = _State(
            position=following,
            pages=pages,
            records=so_far,
            calls=self._client.calls,
            total=total,
            last=marks,
            anchor=marks if pages & (pages - 1) == 0 else state.anchor,
            seen=f"{state.seen} {marks[1][:_MARK]}"[-MOST_SEEN * (_MARK + 1) :],
            key=self._last_key(content) or state.key,
            signs=tuple(signs),
            stated=state.stated | stated,
        )
        return records, after if following is not None else self._ended(after)

    def _ask(self, request: SourceRequest, state: _State) -> tuple[Answer, Content | None]:
        """Return an answer and what it holds; None at a status that is declared as the end.

        What is not readable may have been cut on its way, and is asked for once more. A scroll
        would not give it twice.
        """
        is_scroll = isinstance(self._paginator, Cursor) and self._paginator.constant
        for may_repeat in (not is_scroll, False):
            answer = self._client.send(request)
            if self._is_end(answer, state):
                return answer, None
            try:
                return answer, read_content(answer, self._contract, self._most_bytes)
            except UnreadableError as error:
                if not may_repeat:
                    kind = answer.headers.get("Content-Type") or "none"
                    raise SourceShapeError(f"{error} (Content-Type: {kind})") from None
        raise AssertionError

    def _is_end(self, answer: Answer, state: _State) -> bool:
        status = answer.status
        if status in self._endpoint.absent_statuses and state.pages == 0:
            return True
        if status in end_statuses(self._endpoint):
            if status >= 400 and state.pages == 0:
                raise SourceRejectedError(
                    f"the first request is answered {status}; end_statuses counts after a page"
                )
            return True
        if status >= 400:
            raise SourceRejectedError(f"page {state.pages + 1} is answered {status}")
        if status == 202:
            raise SourceUnavailableError(
                "the source answers 202: what was asked for is not ready",
                retry_after(answer.headers, lambda: datetime.now(UTC)),
            )
        if status == 204:
            raise SourceShapeError(
                "the source answers 204, no content; end_statuses: [204] takes it for the end"
            )
        if status not in READ_STATUSES:
            raise SourceShapeError(f"the source answers {status}, which is not read as an answer")
        return False

    def _total(self, state: _State, answer: Answer, content: Content) -> int | None:
        total = read_total(self._paginator, answer, content)
        stated = stated_total(self._paginator)
        if total is None or not state.pages or stated is None:
            return state.total if total is None else total
        if total != state.total and stated.changes == "refused":
            raise SourceShapeError(
                f"the total went from {state.total} to {total} between pages; "
                "total: {changes: allowed} lets it"
            )
        return total

    def _refuse_loop(self, state: _State, marks: tuple[str, str]) -> None:
        may_stay = isinstance(self._paginator, Cursor) and self._paginator.constant
        records_mark = marks[1][:_MARK]
        for known in (state.last, state.anchor):
            is_again = marks[0] == known[0] and not may_stay
            if is_again or (marks[1] and marks[1] == known[1]):
                raise SourceShapeError(f"page {state.pages + 1} repeats an earlier one")
        if records_mark and records_mark in state.seen:
            raise SourceShapeError(f"page {state.pages + 1} repeats an earlier one")

    def _repeated(self, state: _State, records: Records) -> int:
        """Return how many records of a page the ones before it have already.

        Raises:
            SourceShapeError: The last one that came is not among them: records have moved.
        """
        if not (isinstance(self._paginator, Offset) and self._paginator.overlap and state.pages):
            return 0
        last = -1
        for number, record in enumerate(records):
            if self._key(record) == state.key:
                last = number
        if last < 0 and records:
            raise SourceShapeError(
                f"page {state.pages + 1} should begin with records of the page before it, and does "
                "not: records moved while they were read"
            )
        return last + 1

    def _so_far(self, state: _State, position: Position, records: Records, new: int) -> int:
        """Return how many records were read: where pages overlap, up to which place of the list."""
        if isinstance(self._paginator, Offset) and self._paginator.overlap:
            return max(state.records, int(position) + len(records))
        return state.records + new

    def _last_key(self, content: Content) -> str:
        overlaps = isinstance(self._paginator, Offset) and self._paginator.overlap
        return self._key(content.last) if overlaps and content.records else ""

    def _key(self, record: bytes) -> str:
        """Return a digest of a record's key; of all of it, if it has none."""
        try:
            fields = fields_of(record)
        except UnreadableError:
            return _digest(record)
        key = [value_along(fields, steps) for steps in self._contract.key_steps]
        return _digest(*(part for part in key if part) if all(key) and key else (record,))

    def _is_searched(self, following: Position | None, pages: int) -> bool:
        """Say whether a page is searched for signs: one that may be the last, and the first."""
        return following is None or pages == 1 or may_end_unsaid(self._paginator)

    def _at_end_status(self, state: _State) -> _State:
        ended = state.model_copy(
            update={"position": None, "pages": state.pages + 1, "calls": self._client.calls}
        )
        return self._ended(ended)

    def _ended(self, state: _State) -> _State:
        """Return the state at an end, or refuse an end at which there is more."""
        refuse_wrong_total(self._paginator, state.total, state.pages, state.records)
        read = Read(state.pages, state.records)
        signs = [*state.signs, *(s for s in state.stated.values() if s.shows_more(read))]
        if signs:
            names = ", ".join(dict.fromkeys(sign.name for sign in signs))
            raise SourceShapeError(
                f"the extraction ends after {state.pages} pages and {state.records} records, but "
                f"the source shows that there is more: {'; '.join(map(str, signs))}. Give the "
                "endpoint the paginator that follows it; or, if the source says so wrongly, "
                f"may_ignore: [{names}]"
            )
        return state

    def _refuse_partial(self, seen: Seen) -> None:
        found = self._not_ignored(partial_signs(seen.content.text, self._steps))
        if found:
            names = ", ".join(sign.name for sign in found)
            raise SourceShapeError(
                f"page {seen.pages} is not whole: {'; '.join(map(str, found))}. If the source says "
                f"so wrongly, may_ignore: [{names}]"
            )

    def _signs(self, seen: Seen) -> list[Sign]:
        declared = {_normal(name) for name in declared_by(self._paginator)}
        found = find_signs(seen.answer, seen.content.text, self._steps, declared)
        return self._not_ignored(found)

    def _not_ignored(self, signs: list[Sign]) -> list[Sign]:
        ignored = [_normal(name) for name in self._endpoint.may_ignore]
        return [sign for sign in signs if not any(_covers(name, sign.name) for name in ignored)]


def _is_repealed(sign: Sign, seen: Seen) -> bool:
    """Say whether an empty page says otherwise than the page before it, by the same name."""
    if not sign.name.startswith("$"):
        return sign.name in seen.answer.headers
    try:
        return seen.content.at(sign.name) is not None
    except SourceShapeError:
        return False


def _normal(name: str) -> str:
    return path_of(path_steps(name)) if name.startswith("$") else name.lower()


def _covers(ignored: str, name: str) -> bool:
    if not name.startswith("$"):
        return ignored == name.lower()
    return name == ignored or name.startswith((f"{ignored}.", f"{ignored}["))


def _digest(*texts: bytes) -> str:
    digest = sha256()
    for text in texts:
        digest.update(len(text).to_bytes(8, "big") + text)
    return digest.hexdigest()[:32]
