"""An extraction that ends is searched for signs of more, whatever the paginator."""

import json
from typing import Any

import pytest
from requests.structures import CaseInsensitiveDict

from lakekit.contract.endpoint.paths import path_steps
from lakekit.errors import SourceShapeError
from lakekit.extract import Answer, extract_pages
from lakekit.extract.content.json_paths import JsonText
from lakekit.extract.signs import Read, find_signs
from tests.unit.extract.chain import Chain
from tests.unit.extract.conftest import VALUES, contract_of
from tests.unit.extract.scripted import SOURCE, URL


class Once:
    """A client that gives one answer again and again."""

    def __init__(self, body: Any, headers: dict[str, str] | None = None, status: int = 200) -> None:
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answer = Answer(URL, status, CaseInsensitiveDict(headers or {}), text)
        self.calls = 0

    def send(self, _: Any) -> Answer:
        self.calls += 1
        return self.answer


def land(client: Once, **endpoint: Any) -> list[bytes]:
    contract = contract_of({"path": "/items", "records": "$.items", **endpoint}, {"id": "int"})
    pages = extract_pages(SOURCE, contract, client, VALUES)  # type: ignore[arg-type]
    return [record for page in pages for record in page.records]


RECORD: dict[str, Any] = {"items": [{"id": 1}]}
WRONG = [
    {},
    {"paginator": {"type": "cursor", "cursor_path": "$.cursor_of_next"}},
    {"paginator": {"type": "cursor", "cursor_header": "X-Nxt"}},
    {"paginator": {"type": "next_url", "next_path": "$.links.nxt"}},
    {"paginator": {"type": "link_header"}},
]


@pytest.mark.parametrize("endpoint", WRONG, ids=lambda each: str(each.get("paginator")))
@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"next": "/items?p=2"}, "$.next"),
        ({"next": 2}, "$.next"),
        ({"next": {"href": "/p/2"}}, "$.next"),
        ({"next_cursor": "abc"}, "$.next_cursor"),
        ({"nextPageToken": "abc"}, "$.nextPageToken"),
        ({"NextToken": "abc"}, "$.NextToken"),
        ({"next-page": 2}, "$.next-page"),
        ({"cursor": "abc"}, "$.cursor"),
        ({"LastEvaluatedKey": {"id": {"S": "a"}}}, "$.LastEvaluatedKey"),
        ({"nextRecordsUrl": "/q/2", "done": True}, "$.nextRecordsUrl"),
        ({"@odata.nextLink": "https://x"}, "$['@odata.nextLink']"),
        ({"paging": {"next": {"after": "2", "link": "x"}}}, "$.paging.next"),
        ({"response_metadata": {"next_cursor": "x"}}, "$.response_metadata.next_cursor"),
        ({"pagination": {"links": {"next": "x"}}}, "$.pagination.links.next"),
        ({"continuation": "x"}, "$.continuation"),
        ({"link": [{"relation": "self", "url": "x"}, {"relation": "next", "url": "y"}]}, "$.link"),
        ({"has_more": True}, "$.has_more"),
        ({"hasMore": "true"}, "$.hasMore"),
        ({"more": 1}, "$.more"),
        ({"more_items": "yes"}, "$.more_items"),
        ({"moreAvailable": True}, "$.moreAvailable"),
        ({"page_info": {"has_next_page": True}}, "$.page_info.has_next_page"),
        ({"IsTruncated": True}, "$.IsTruncated"),
        ({"timed_out": True}, "$.timed_out"),
        ({"isLast": False}, "$.isLast"),
        ({"done": False}, "$.done"),
        ({"page": {"last": False}}, "$.page.last"),
        ({"total": 500}, "$.total"),
        ({"total": 500.0}, "$.total"),
        ({"total": "500"}, "$.total"),
        ({"count": 2}, "$.count"),
        ({"@odata.count": 2}, "$['@odata.count']"),
        ({"total_count": 2}, "$.total_count"),
        ({"totalResults": 2}, "$.totalResults"),
        ({"totalItems": 2}, "$.totalItems"),
        ({"numFound": 2}, "$.numFound"),
        ({"nbHits": 2}, "$.nbHits"),
        ({"meta": {"total": {"value": 2, "relation": "eq"}}}, "$.meta.total.value"),
        ({"page": {"number": 1, "totalPages": 3}}, "$.page.totalPages"),
        ({"last_page": 3}, "$.last_page"),
        ({"pages": 3}, "$.pages"),
        ({"error": {"message": "the search timed out"}}, "$.error"),
        ({"errors": ["the search timed out"]}, "$.errors"),
    ],
    ids=str,
)
def test_one_page_is_not_taken_for_everything(
    endpoint: dict[str, Any], fields: dict[str, Any], name: str
) -> None:
    with pytest.raises(SourceShapeError) as refused:
        land(Once(RECORD | fields), **endpoint)
    line = f"may_ignore: [{name}]"

    assert str(refused.value).endswith(line)
    assert land(Once(RECORD | fields), **endpoint, may_ignore=[name]) == [b'{"id": 1}']


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Link", '</items?p=2>; rel="last next"'),
        ("Link", "</items?p=2; rel=next"),
        ("X-Next-Page", "2"),
        ("x-next", "/items?p=2"),
        ("X-MS-Continuation", "abc"),
        ("X-Has-More", "true"),
        ("X-Total-Count", "500"),
        ("X-Total", "500"),
        ("X-WP-Total", "2"),
        ("X-Total-Pages", "3"),
        ("X-WP-TotalPages", "3"),
        ("Pagination-Count", "500"),
        ("X-Pagination", '{"TotalPages": 3}'),
        ("Content-Range", "items 0-0/500"),
        ("Content-Range", "0-0/2"),
        ("Content-Range", "bytes 0-499/1234"),
    ],
)
def test_headers_are_searched_too(header: str, value: str) -> None:
    with pytest.raises(SourceShapeError, match=rf"may_ignore: \[{header}\]"):
        land(Once(RECORD, {header: value}))

    assert land(Once(RECORD, {header: value}), may_ignore=[header.lower()]) == [b'{"id": 1}']


@pytest.mark.parametrize(
    "fields",
    [
        {"next": None, "has_more": False, "total": 1, "count": 1, "pages": 1},
        {"next": "", "next_cursor": "", "nextPageToken": False, "previous": "/items?p=0"},
        {"next": {}, "links": {"next": {"href": None}, "self": "/items"}},
        {"links": [{"rel": "self", "href": "/items"}], "paging": {"next": {"after": None}}},
        {"page": 3, "per_page": 100, "page_size": 100, "pageNumber": 3, "limit": 100, "size": 50},
        {"is_last": True, "done": True, "complete": True, "total": 0},
        {"nextSyncToken": "x", "next_billing_date": "2026-01-01", "sync": {"next_run": "x"}},
        {"total": 12.5, "total_price": 500, "facets": {"colour": {"count": 500}}},
        {"filters": {"total": 500, "count": 500}, "error": None, "errors": [], "status": "ok"},
        {"endCursor": "x", "pageInfo": {"hasNextPage": False, "endCursor": "x"}},
        {"query": "next", "message": "more", "warnings": []},
    ],
    ids=str,
)
def test_what_shows_no_more_is_no_sign(fields: dict[str, Any]) -> None:
    assert land(Once(RECORD | fields)) == [b'{"id": 1}']


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Link", '</items?p=1>; rel="prev"'), ("X-Next-Page", ""), ("X-Has-More", "false"),
        ("X-Total", "1"), ("Content-Range", "items 0-0/1"), ("X-RateLimit-Remaining", "4999"),
        ("Content-Length", "500"), ("Age", "500"), ("X-Page", "3"), ("X-Per-Page", "100"),
        ("Last-Modified", "Sat, 31 Jan 2026 00:00:00 GMT"), ("X-Cache-Hits", "12"),
        ("X-Request-Id", "next"), ("Retry-After", "120"), ("X-Runtime", "3"),
    ],
)  # fmt: skip
def test_headers_of_other_meaning_are_no_sign(header: str, value: str) -> None:
    assert land(Once(RECORD, {header: value})) == [b'{"id": 1}']


def test_a_part_needs_to_say_that_it_is_the_whole() -> None:
    whole = {"Content-Range": "items 0-0/1"}

    assert land(Once(RECORD, whole, status=206)) == [b'{"id": 1}']
    with pytest.raises(SourceShapeError, match=r"Content-Range is 'items 0-0/\*'"):
        land(Once(RECORD, {"Content-Range": "items 0-0/*"}, status=206))


def test_what_the_paginator_goes_by_is_judged_by_it_alone() -> None:
    body = RECORD | {"next_cursor": 0, "total": 1}
    paginator = {"type": "cursor", "cursor_path": "$.next_cursor", "end_values": [0]}

    assert land(Once(body), paginator=paginator) == [b'{"id": 1}']


def test_ignoring_a_part_ignores_what_is_in_it() -> None:
    body = RECORD | {"meta": {"total": 500, "next": "x"}}

    assert land(Once(body), may_ignore=["$['meta']"]) == [b'{"id": 1}']


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ([{"page": 1, "pages": 3}, [{"id": 1}]], "$[1]"),
        ({"d": {"results": [{"id": 1}], "__next": "x"}}, "$.d.results"),
        ({"data": {"all": {"nodes": [{"id": 1}], "pageInfo": {"hasNextPage": True}}}},
         "$.data.all.nodes"),
        ({"hits": {"total": {"value": 3}, "hits": [{"_source": {"id": 1}}]}},
         "$.hits.hits[*]._source"),
    ],
)  # fmt: skip
def test_signs_are_found_around_the_records_wherever_they_are(body: Any, path: str) -> None:
    with pytest.raises(SourceShapeError, match="the source shows that there is more"):
        land(Once(body), records=path)


def test_the_records_are_not_searched() -> None:
    body = {"items": [{"id": 1, "next": "x", "total": 500, "has_more": True}]}

    assert len(land(Once(body))) == 1
    assert len(land(Once({"items": {"total": {"id": 1, "next": 7}}}), shape="map")) == 1


def test_a_total_of_the_first_page_alone_is_kept_to_the_end() -> None:
    """dlt #1414: the count is on the first page only."""
    first = RECORD | {"total": 3, "next": "b"}
    client = Once(first)
    contract = contract_of(
        {"path": "/items", "records": "$.items",
         "paginator": {"type": "cursor", "cursor_path": "$.next"}}, {"id": "int"},
    )  # fmt: skip
    pages = extract_pages(SOURCE, contract, client, VALUES)  # type: ignore[arg-type]
    next(pages)
    client.answer = Once({"items": [{"id": 2}]}).answer

    with pytest.raises(SourceShapeError, match=r"\$\.total is 3 records"):
        list(pages)


@pytest.mark.parametrize(
    "fields", [{"errors": ["x"]}, {"error": "x"}, {"timed_out": True}, {"incomplete_results": True}]
)
def test_a_page_that_is_not_whole_fails_wherever_it_is(fields: dict[str, Any]) -> None:
    [name] = fields
    paginator = {"type": "cursor", "cursor_path": "$.next"}
    answers = [{"items": [1], "next": "b"}, {"items": [2], "next": "c", **fields}, {"items": [3]}]

    with pytest.raises(SourceShapeError, match=rf"page 2 is not whole: \$\.{name} "):
        Chain(*answers).land(paginator=paginator)
    assert len(Chain(*answers).land(paginator=paginator, may_ignore=[f"$.{name}"])) == 3


def test_a_large_answer_is_searched_within_bounds() -> None:
    wide = {f"field{n}": {"a": {"b": {"c": {"d": {"e": {"next": "x"}}}}}} for n in range(3000)}
    text = JsonText(json.dumps({"items": [], **wide}).encode())
    answer = Answer(URL, 200, {}, b"")

    signs = find_signs(answer, text, path_steps("$.items"), set())

    assert [sign for sign in signs if sign.shows_more(Read(1, 0))] == []
