"""Pages of a source, read to the last one and cut into records."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from werkzeug import Request, Response

from lakekit.errors import LakekitError, SourceShapeError
from tests.unit.extract.conftest import Api, page_of


def test_reads_page_numbers_up_to_the_total(api: Api) -> None:
    api.serve(lambda r: {"items": [page_of(r)], "pages": 3})

    assert api.records({"type": "page_number", "total_path": "$.pages"}) == [1, 2, 3]
    assert [r.args["q"] for r in api.requests] == ["1", "1", "1"]


def test_reads_page_numbers_up_to_an_empty_page(api: Api) -> None:
    api.serve(lambda r: {"items": [7] * page_of(r) if page_of(r) < 3 else []})

    assert api.records({"type": "page_number"}) == [7, 7, 7]


def test_reads_offsets_by_what_came_when_the_source_caps_the_limit(api: Api) -> None:
    def answer(request: Request) -> Any:
        start = int(request.args["offset"])
        return {"items": list(range(5))[start : start + 2], "total": 5}

    api.serve(answer)

    assert api.records({"type": "offset", "limit": 100, "total_path": "$.total"}) == [0, 1, 2, 3, 4]


def test_reads_cursors_until_null(api: Api) -> None:
    chain = {"": (1, "b"), "b": (2, 9), "9": (3, None)}
    api.serve(lambda r: dict(zip(("items", "next"), ([chain[r.args.get("c", "")][0]],
              chain[r.args.get("c", "")][1]), strict=True)))  # fmt: skip

    paginator = {"type": "cursor", "cursor_path": "$.next", "cursor_param": "c"}
    assert api.records(paginator) == [1, 2, 3]


def test_follows_addresses_in_the_body(api: Api) -> None:
    api.serve(
        lambda r: {"items": [1], "next": "/items?t=2"} if "t" not in r.args else {"items": [2]}
    )

    assert api.records({"type": "next_url", "next_path": "$.next"}) == [1, 2]


def test_follows_the_link_header(api: Api) -> None:
    def answer(request: Request) -> Response:
        first = "t" not in request.args
        response = Response(json.dumps({"items": [1 if first else 2]}))
        if first:
            response.headers["Link"] = '</items?t=2>; rel="next"'
        return response

    api.serve(answer)

    assert api.records({"type": "link_header"}) == [1, 2]


def test_cuts_records_with_their_exact_text(api: Api) -> None:
    api.serve(lambda _: Response(b'{"items": [{"b": 1.10, "a":12345678901234567890123}]}'))

    assert [p.records for p in api.pages()] == [[b'{"b": 1.10, "a":12345678901234567890123}']]


HALF = rb'{"a": "\ud83d<half pair 0>\\ud83d"}'


def test_a_record_that_is_no_text_is_cut_as_it_was_received(api: Api) -> None:
    """The merge rejects it; its neighbours load."""
    records = [b'{"a":1}', HALF, b'{"a":"\xff"}', rb'{"\uDE00":{"b":"\ud83d\ude00"}}', b'{"a":2}']
    api.serve(lambda _: Response(b'\xef\xbb\xbf{"items": [' + b", ".join(records) + b"]}"))

    assert [page.records for page in api.pages()] == [records]


def test_a_cursor_that_is_no_text_is_refused(api: Api) -> None:
    api.serve(lambda _: Response(rb'{"items": [1], "next": "\ud83d"}'))

    with pytest.raises(SourceShapeError, match=r"\$\.next is not JSON"):
        api.records({"type": "cursor", "cursor_path": "$.next", "cursor_param": "c"})


def test_goes_on_after_any_page(api: Api) -> None:
    api.serve(lambda r: {"items": [page_of(r)], "pages": 4})
    paginator = {"type": "page_number", "total_path": "$.pages"}
    first = next(api.pages(paginator))
    resume = json.loads(json.dumps(first.resume))

    rest = list(api.pages(paginator, resume=resume))

    assert [page.number for page in rest] == [2, 3, 4]
    assert rest[-1].last
    assert list(api.pages(paginator, resume=rest[-1].resume)) == []


@pytest.mark.parametrize(
    ("paginator", "answer"),
    [
        ({"type": "page_number"}, lambda _: {"items": [1]}),
        ({"type": "page_number", "total_path": "$.n"}, lambda r: {"items": [page_of(r)], "n": 9 - page_of(r)}),  # noqa: E501
        ({"type": "page_number", "total_path": "$.n"}, lambda r: {"items": [1][page_of(r) - 1 :], "n": 3}),  # noqa: E501
        ({"type": "page_number", "total_path": "$.n"}, lambda _: {"items": [1]}),
        ({"type": "page_number", "total_path": "$.n"}, lambda _: {"items": [1], "n": 0}),
        ({"type": "offset", "limit": 2, "total_path": "$.n"}, lambda r: {"items": [1, 2][int(r.args["offset"]) :], "n": 3}),  # noqa: E501
        ({"type": "offset", "limit": 2, "total_path": "$.n"}, lambda _: {"items": [1, 2], "n": 1}),
        ({"type": "cursor", "cursor_path": "$.c"}, lambda r: {"items": [], "c": "b" if r.args.get("cursor") == "a" else "a"}),  # noqa: E501
        ({"type": "next_url", "next_path": "$.c"}, lambda _: {"items": [], "c": "/items?z=1"}),
        ({"type": "next_url", "next_path": "$.c"}, lambda _: {"items": [], "c": 5}),
        (None, lambda _: {"error": "x"}),
        (None, lambda _: {"items": {"a": 1}}),
        (None, lambda _: Response(b"")),
        (None, lambda _: Response(b"<html>", content_type="text/html")),
        (None, lambda _: Response(b'{"items": [1', content_type="application/json")),
        (None, lambda _: Response(rb'{"items": ["\ud83d", NaN]')),
        (None, lambda _: Response(status=302, headers={"Location": "/items"})),
    ],
)  # fmt: skip
def test_refuses_loops_wrong_totals_and_wrong_shapes(
    api: Api, paginator: dict[str, Any] | None, answer: Callable[[Request], Any]
) -> None:
    """dlt #1915, #2586: a source that is cut short looks complete."""
    api.serve(answer)

    with pytest.raises(SourceShapeError):
        api.records(paginator)

    assert len(api.requests) < 12


def test_a_source_that_names_a_next_page_is_not_read_as_a_single_one(api: Api) -> None:
    """dlt #1915: without a paginator one page is loaded, and the rest is lost without a word."""
    link = {"Link": '</items?t=2>; rel="next"'}
    api.serve(lambda _: Response(json.dumps({"items": [1]}), headers=link))

    with pytest.raises(SourceShapeError, match="link_header follows this one"):
        api.records()


def test_posts_a_body_with_headers_and_repeated_parameters(api: Api) -> None:
    api.serve(lambda r: {"items": [r.get_json()["page"]], "more": r.get_json()["page"] < 2})
    endpoint = {
        "params": {"tag": ["a", "b"], "at": "{run.started_at}"},
        "headers": {"X-Version": "2"},
        "body": {"json": {"size": 1}},
    }
    paginator = {"type": "page_number", "page_param": "$.page", "has_more": "$.more"}

    assert api.records(paginator, endpoint=endpoint) == [1, 2]
    assert [r.get_json() for r in api.requests] == [{"size": 1, "page": 1}, {"size": 1, "page": 2}]
    assert api.requests[0].args.to_dict(flat=False) == {
        "tag": ["a", "b"], "at": ["2026-01-31T13:30:15Z"],
    }  # fmt: skip
    assert api.requests[0].headers["X-Version"] == "2"
    assert api.requests[0].content_type == "application/json"


def test_asks_at_any_path(api: Api) -> None:
    path = "/people/~:(id,größe)@v1;x=1/$all"
    api.serve(lambda _: {"items": [1]}, path)

    assert api.records(endpoint={"path": path}) == [1]


@pytest.mark.parametrize("status", [404, 204])
def test_a_declared_status_is_the_end_and_another_is_an_error(api: Api, status: int) -> None:
    api.serve(lambda r: {"items": [1]} if page_of(r) == 1 else Response(status=status))
    paginator = {"type": "page_number", "end_statuses": [status]}

    assert api.records(paginator) == [1]
    with pytest.raises(LakekitError, match=str(status)):
        api.records({"type": "page_number"})


def test_several_link_headers_are_one(api: Api) -> None:
    def answer(request: Request) -> Response:
        response = Response(json.dumps({"items": [1 if "t" not in request.args else 2]}))
        if "t" not in request.args:
            response.headers.add("Link", '</items?t=0>; rel="prev"')
            response.headers.add("Link", '</items?t=2;a,b>; title="a; b"; rel="x next"')
        return response

    api.serve(answer)

    assert api.records({"type": "link_header"}) == [1, 2]
    assert api.requests[1].args["t"] == "2;a,b"
