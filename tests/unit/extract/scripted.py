"""A source in memory that pages in each way there is, and goes wrong by a script."""

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from requests.structures import CaseInsensitiveDict

from lakekit.config.source import Source
from lakekit.extract import Answer, SourceRequest, extract_pages
from tests.unit.extract.conftest import VALUES, contract_of

SOURCE = Source.model_validate({"source": "s", "base_url": "https://api.example"})
URL = "https://api.example/items"


@dataclass(frozen=True)
class Way:
    """One way of paging: the endpoint's part, and how the source finds and shows its pages.

    page_of: the number of the page that a request asks for, from 0. shows: what the answer with a
    page has in addition to its records, in body and headers.
    """

    name: str
    endpoint: Mapping[str, Any]
    page_of: Callable[[SourceRequest, "Scripted"], int]
    shows: Callable[[int, "Scripted"], tuple[dict[str, Any], dict[str, str]]]
    has_total: bool = False
    is_plain: bool = False


def param(request: SourceRequest, name: str, default: str = "0") -> str:
    return dict(request.params).get(name, default)


def number_at(request: SourceRequest, *path: str) -> int:
    value = json.loads(request.body or b"{}")
    for name in path:
        value = value.get(name) if value else None
    return int(value or 0)


def page_at(offset: int, scripted: "Scripted") -> int:
    """Return the page that begins at a record; one behind the last, if none does."""
    starts = [sum(map(len, scripted.pages[:n])) for n in range(len(scripted.pages))]
    return starts.index(offset) if offset in starts else len(starts)


def key_of(scripted: "Scripted", page: int) -> int:
    return sum(map(len, scripted.pages[: page + 1]))


def page_behind(key: int, scripted: "Scripted") -> int:
    return page_at(key, scripted)


def link(page: int, scripted: "Scripted") -> str | None:
    return f"/items?p={page + 1}" if page + 1 < len(scripted.pages) else None


def linked_page(request: SourceRequest, _: "Scripted") -> int:
    return int(request.url.partition("?p=")[2] or 0)


def following(page: int, scripted: "Scripted") -> int | None:
    return page + 1 if page + 1 < len(scripted.pages) else None


def total_of(scripted: "Scripted") -> int:
    return sum(map(len, scripted.pages))


WAYS = (
    Way(
        "page_number",
        {"paginator": {"type": "page_number", "total_path": "$.pages"}},
        lambda r, s: int(param(r, "page")) - 1,
        lambda p, s: ({"pages": len(s.pages)}, {}),
        has_total=True,
    ),
    Way(
        "page_number, records in a header",
        {"paginator": {"type": "page_number", "total": {"header": "X-Total", "counts": "records"}}},
        lambda r, s: int(param(r, "page")) - 1,
        lambda p, s: ({}, {"X-Total": str(total_of(s))}),
        has_total=True,
    ),
    Way(
        "page_number up to an empty page",
        {"paginator": {"type": "page_number", "first_page": 0}},
        lambda r, s: int(param(r, "page")),
        lambda p, s: ({}, {}),
        is_plain=True,
    ),
    Way(
        "page_number with a flag",
        {"paginator": {"type": "page_number", "is_last": "$.meta.isLast", "first_page": 0}},
        lambda r, s: int(param(r, "page")),
        lambda p, s: ({"meta": {"isLast": p + 1 >= len(s.pages)}}, {}),
    ),
    Way(
        "offset",
        {"paginator": {"type": "offset", "limit": 100, "total_path": "$.total"}},
        lambda r, s: page_at(int(param(r, "offset")), s),
        lambda p, s: ({"total": total_of(s)}, {}),
        has_total=True,
    ),
    Way(
        "offset up to an empty page",
        {"paginator": {"type": "offset", "limit": 100}},
        lambda r, s: page_at(int(param(r, "offset")), s),
        lambda p, s: ({}, {}),
        is_plain=True,
    ),
    Way(
        "cursor",
        {"paginator": {"type": "cursor", "cursor_path": "$.next"}},
        lambda r, s: int(param(r, "cursor")),
        lambda p, s: ({"next": following(p, s)}, {}),
    ),
    Way(
        "cursor in a header, with records in a header",
        {"paginator": {
            "type": "cursor", "cursor_header": "X-Next", "cursor_param": "c",
            "total": {"header": "X-Count"},
        }},
        lambda r, s: int(param(r, "c")),
        lambda p, s: (
            {}, {"X-Next": str(following(p, s) or ""), "X-Count": str(total_of(s))},
        ),
        has_total=True,
    ),
    Way(
        "an object as cursor, in the body of a POST",
        {
            "body": {"json": {"size": 10}},
            "paginator": {
                "type": "cursor", "cursor_path": "$.LastEvaluatedKey",
                "cursor_param": "$.ExclusiveStartKey",
            },
        },
        lambda r, s: number_at(r, "ExclusiveStartKey", "page"),
        lambda p, s: ({"LastEvaluatedKey": {"page": p + 1}} if following(p, s) else {}, {}),
    ),
    Way(
        "graphql",
        {
            "body": {"graphql": {"query": "query($after: Int) { … }"}},
            "paginator": {
                "type": "cursor", "cursor_path": "$.pageInfo.endCursor",
                "cursor_param": "$.variables.after", "has_more": "$.pageInfo.hasNextPage",
            },
        },
        lambda r, s: number_at(r, "variables", "after"),
        lambda p, s: (
            {"pageInfo": {"endCursor": p + 1, "hasNextPage": following(p, s) is not None}}, {},
        ),
    ),
    Way(
        "scroll",
        {
            "body": {"json": {"query": {}}},
            "paginator": {
                "type": "cursor", "cursor_path": "$._scroll_id", "cursor_param": "$.scroll_id",
                "constant": True, "total": {"path": "$.total.value"},
                "following": {"path": "/scroll", "json": {"scroll": "1m"}},
            },
        },
        lambda r, s: s.scrolled(r),
        lambda p, s: ({"_scroll_id": "abc", "total": {"value": total_of(s)}}, {}),
        has_total=True,
    ),
    Way(
        "keyset",
        {"paginator": {
            "type": "keyset", "key_path": "$.id", "key_param": "starting_after",
            "has_more": "$.has_more",
        }},
        lambda r, s: page_behind(int(param(r, "starting_after")), s),
        lambda p, s: ({"has_more": p + 1 < len(s.pages)}, {}),
    ),
    Way(
        "next_url",
        {"paginator": {"type": "next_url", "next_path": "$['@odata.nextLink']"}},
        linked_page,
        lambda p, s: ({"@odata.nextLink": link(p, s)} if link(p, s) else {}, {}),
    ),
    Way(
        "link_header",
        {"paginator": {"type": "link_header"}},
        linked_page,
        lambda p, s: ({}, {"Link": f'<{link(p, s)}>; rel="next"'} if link(p, s) else {}),
    ),
)  # fmt: skip


@dataclass
class Part:
    """An answer in the making."""

    fields: dict[str, Any]
    headers: dict[str, str]
    records: list[str]
    status: int = 200
    charset: str = "utf-8"
    pack: Callable[[bytes], bytes] = bytes
    items: str = "items"
    body: bytes | None = None

    def answer(self, url: str) -> Answer:
        rest = json.dumps(self.fields)[1:-1]
        items = f'"{self.items}": [{", ".join(self.records)}]'
        text = f"{{{items}{', ' if rest else ''}{rest}}}"
        encoded = text.encode(self.charset, "surrogateescape")
        body = self.pack(encoded) if self.body is None else self.body
        return Answer(url, self.status, CaseInsensitiveDict(self.headers), body)


Change = Callable[[Part, "Scripted"], Part]


@dataclass
class Scripted:
    """A client of a source; `faults` change the answer with a page, each so many times."""

    way: Way
    pages: list[list[str]]
    faults: list[tuple[int, int, Change]] = field(default_factory=list)
    served: int = -1
    calls: int = 0
    asked: list[SourceRequest] = field(default_factory=list)

    def scrolled(self, request: SourceRequest) -> int:
        """Return the page after that which was served last, as a scroll has no other place."""
        return self.served + 1 if request.url.endswith("/scroll") else 0

    def send(self, request: SourceRequest) -> Answer:
        self.calls += 1
        self.asked.append(request)
        page = self.way.page_of(request, self)
        self.served = page
        records = self.pages[page] if page < len(self.pages) else []
        fields, headers = self.way.shows(page, self)
        part = Part(fields, {"Content-Type": "application/json", **headers}, list(records))
        for n, (at, times, change) in enumerate(self.faults):
            if at == page and times > 0:
                self.faults[n] = (at, times - 1, change)
                part = change(part, self)
        return part.answer(request.url)

    @property
    def contract(self) -> Any:
        endpoint = {"path": "/items", "records": "$.items", **self.way.endpoint}
        return contract_of(endpoint, {"id": "bigint", "v": "string"})

    def land(self, *, pauses: bool, ignores: tuple[str, ...] = ()) -> list[bytes]:
        """Return what is extracted; with pauses, each page by a call of its own."""
        contract = self.contract
        endpoint = contract.endpoint.model_copy(update={"may_ignore": ignores})
        contract = contract.model_copy(update={"endpoint": endpoint})
        landed: list[bytes] = []
        resume: Any = None
        while True:
            for page in extract_pages(SOURCE, contract, self, VALUES, resume=resume):  # type: ignore[arg-type]
                landed += page.records
                resume = json.loads(json.dumps(page.resume))
                if pauses or page.last:
                    break
            if resume["position"] is None:
                return landed


def texts(pages: list[list[str]]) -> list[bytes]:
    return [text.encode("utf-8", "surrogateescape") for page in pages for text in page]


def with_fields(**fields: Any) -> Change:
    return lambda part, _: replace(part, fields={**part.fields, **fields})


def with_headers(**headers: str) -> Change:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda part, _: replace(part, headers={**part.headers, **named})


def with_body(body: bytes, status: int = 200) -> Change:
    return lambda part, _: replace(part, body=body, status=status)


def with_status(status: int) -> Change:
    return lambda part, _: replace(part, status=status)


def packed(pack: Callable[[bytes], bytes]) -> Change:
    return lambda part, _: replace(part, pack=pack)


def gzipped(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)
