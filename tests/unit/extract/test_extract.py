import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from lakekit.endpoints import Endpoint
from lakekit.errors import (
    CallBudgetExceededError,
    LakekitError,
    SourceRejectedError,
    SourceShapeError,
    SourceThrottledError,
    SourceUnavailableError,
)
from lakekit.extract import Page, SourceClient, extract_pages
from lakekit.sources import Source

SECRET = "s3cret-value"  # noqa: S105


class Api:
    """A source on loopback, and what is needed to call it."""

    def __init__(self, server: HTTPServer) -> None:
        self.server = server
        self.naps: list[float] = []
        self.requests: list[Request] = []

    def source(self, **changes: Any) -> Source:
        return Source.model_validate({"source": "s", "base_url": self.server.url_for("")} | changes)

    def serve(self, answer: Callable[[Request], Any], path: str = "/items") -> None:
        def handle(request: Request) -> Response:
            self.requests.append(request)
            found = answer(request)
            return (
                found
                if isinstance(found, Response)
                else Response(json.dumps(found), content_type="application/json")
            )

        self.server.expect_request(path).respond_with_handler(handle)

    def pages(
        self, paginator: dict[str, Any] | None = None, *, resume: Any = None, **source: Any
    ) -> Iterator[Page]:
        endpoint = Endpoint.model_validate(
            {"path": "/items", "records": "$.items", "params": {"q": "1"}}
            | ({"paginator": paginator} if paginator else {})
        )
        found = self.source(**source)
        client = SourceClient(
            found, lambda _: SECRET, sleep=self.naps.append, monotonic=lambda: 0.0
        )
        try:
            yield from extract_pages(found, endpoint, client, resume=resume)
        finally:
            client.close()

    def records(self, paginator: dict[str, Any] | None = None, **source: Any) -> list[Any]:
        return [json.loads(r) for page in self.pages(paginator, **source) for r in page.records]


@pytest.fixture
def api(httpserver: HTTPServer) -> Api:
    return Api(httpserver)


def page_of(request: Request) -> int:
    return int(request.args["page"])


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


@pytest.mark.parametrize(
    ("status", "error"),
    [(500, SourceUnavailableError), (503, SourceUnavailableError), (401, SourceRejectedError),
     (404, SourceRejectedError), (429, SourceThrottledError)],
)  # fmt: skip
def test_gives_every_status_its_error(api: Api, status: int, error: type[LakekitError]) -> None:
    api.serve(lambda _: Response(status=status))

    with pytest.raises(error):
        api.records()


def test_obeys_a_short_pause_in_place(api: Api) -> None:
    busy = [Response(status=429, headers={"Retry-After": "2"}) for _ in range(3)]
    api.serve(lambda _: busy.pop() if busy else {"items": [1]})

    assert api.records() == [1]
    assert api.naps == [2.0, 2.0, 2.0]


def test_refuses_to_wait_for_a_date_far_away(api: Api) -> None:
    headers = {"Retry-After": "Tue, 01 Jan 2999 00:00:00 GMT"}
    api.serve(lambda _: Response(status=429, headers=headers))

    with pytest.raises(SourceThrottledError) as caught:
        api.records()

    assert caught.value.retry_after_seconds
    assert caught.value.retry_after_seconds > 10


def test_does_not_wait_for_a_date_in_the_past(api: Api) -> None:
    busy = [Response(status=429, headers={"Retry-After": "Sat, 01 Jan 2000 00:00:00 GMT"})]
    api.serve(lambda _: busy.pop() if busy else {"items": [1]})

    assert api.records() == [1]
    assert api.naps == [0.0]


def test_gives_up_at_the_fourth_429(api: Api) -> None:
    api.serve(lambda _: Response(status=429, headers={"Retry-After": "1"}))

    with pytest.raises(SourceThrottledError):
        api.records()

    assert len(api.requests) == 4


def test_keeps_the_call_budget_over_a_resume(api: Api) -> None:
    api.serve(lambda r: {"items": [page_of(r)]})
    budget = {"max_requests_per_run": 2}
    first = next(api.pages({"type": "page_number"}, call_budget=budget))

    with pytest.raises(CallBudgetExceededError):
        list(api.pages({"type": "page_number"}, resume=first.resume, call_budget=budget))

    assert len(api.requests) == 2


def test_keeps_the_call_rate(api: Api) -> None:
    api.serve(lambda r: {"items": [page_of(r)], "n": 3})

    api.records(
        {"type": "page_number", "total_path": "$.n"}, call_budget={"max_requests_per_second": 4}
    )

    assert api.naps == [0.25, 0.25]


@pytest.mark.parametrize("location", ["http://localhost:1/x", "https://example.org/", "//a.org"])
def test_never_follows_to_a_foreign_origin(api: Api, location: str) -> None:
    api.serve(lambda _: Response(status=302, headers={"Location": location}))

    with pytest.raises(SourceRejectedError, match="origin"):
        api.records()


def test_follows_a_redirect_at_home(api: Api) -> None:
    api.serve(lambda _: Response(status=307, headers={"Location": "/new"}))
    api.serve(lambda _: {"items": [1]}, "/new")

    assert api.records() == [1]


def test_refuses_a_next_address_elsewhere(api: Api) -> None:
    api.serve(lambda _: {"items": [1], "next": "http://169.254.169.254/latest"})

    with pytest.raises(SourceRejectedError, match="origin"):
        api.records({"type": "next_url", "next_path": "$.next"})


@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [
        ({"type": "api_key", "header": "X-Key", "secret": "n"}, "X-Key", SECRET),
        ({"type": "bearer", "secret": "n"}, "Authorization", f"Bearer {SECRET}"),
        ({"type": "basic", "username": "u", "secret": "n"}, "Authorization", "Basic dTpzM2NyZXQtdmFsdWU="),  # noqa: E501
    ],
)  # fmt: skip
def test_signs_in(api: Api, auth: dict[str, str], header: str, value: str) -> None:
    api.serve(lambda _: {"items": []})

    api.records(auth=auth)

    assert api.requests[0].headers[header] == value


def test_never_shows_a_secret_in_an_error(api: Api) -> None:
    source = api.source(auth={"type": "api_key", "secret": "n"})
    client = SourceClient(source, lambda _: f"{SECRET}\n")

    with pytest.raises(SourceRejectedError) as caught:
        client.get(source.base_url + "/items", {})

    error: BaseException | None = caught.value
    while error:
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__
    client.close()


def test_says_unavailable_when_nobody_answers() -> None:
    source = Source.model_validate({"source": "s", "base_url": "http://127.0.0.1:9"})
    client = SourceClient(source, lambda _: SECRET)

    with pytest.raises(SourceUnavailableError, match="ConnectionError"):
        client.get("http://127.0.0.1:9/items", {})

    client.close()


def test_a_source_that_names_a_next_page_is_not_read_as_a_single_one(api: Api) -> None:
    """dlt #1915: without a paginator one page is loaded, and the rest is lost without a word."""
    link = {"Link": '</items?t=2>; rel="next"'}
    api.serve(lambda _: Response(json.dumps({"items": [1]}), headers=link))

    with pytest.raises(SourceShapeError, match="link_header follows this one"):
        api.records()
