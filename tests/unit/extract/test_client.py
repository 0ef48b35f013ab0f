"""How a source is asked: its errors, pauses and budget, redirects, and secrets."""

import json
from typing import Any

import pytest
from werkzeug import Response

from lakekit.config.source import Source
from lakekit.errors import (
    CallBudgetExceededError,
    LakekitError,
    SourceRejectedError,
    SourceShapeError,
    SourceThrottledError,
    SourceUnavailableError,
)
from lakekit.extract import SourceClient, SourceRequest
from lakekit.extract.http.pace import RunLimits
from tests.unit.extract.conftest import SECRET, Api, page_of


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


def test_waits_a_second_for_a_date_in_the_past(api: Api) -> None:
    busy = [Response(status=429, headers={"Retry-After": "Sat, 01 Jan 2000 00:00:00 GMT"})]
    api.serve(lambda _: busy.pop() if busy else {"items": [1]})

    assert api.records() == [1]
    assert api.naps == [1.0]


def test_gives_up_at_the_fourth_429(api: Api) -> None:
    api.serve(lambda _: Response(status=429, headers={"Retry-After": "1"}))

    with pytest.raises(SourceThrottledError):
        api.records()

    assert len(api.requests) == 4


@pytest.mark.parametrize("status", [500, 502, 503, 408, 425])
def test_repeats_once_what_may_have_been_an_accident(api: Api, status: int) -> None:
    broken = [Response(status=status)]
    api.serve(lambda _: broken.pop() if broken else {"items": [1]})

    assert api.records() == [1]
    assert api.naps == [1.0]


def test_counts_what_it_repeats(api: Api) -> None:
    api.serve(lambda _: Response(status=500))

    with pytest.raises(CallBudgetExceededError):
        api.records(call_budget={"max_requests_per_run": 1})

    assert len(api.requests) == 1


@pytest.mark.parametrize("status", [503, 403, 429])
def test_obeys_retry_after_with_any_status_that_means_it(api: Api, status: int) -> None:
    busy = [Response(status=status, headers={"Retry-After": "2.5"})]
    api.serve(lambda _: busy.pop() if busy else {"items": [1]})

    assert api.records() == [1]
    assert api.naps == [2.5]


def test_a_403_that_names_a_limit_is_no_refusal(api: Api) -> None:
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "600"}
    api.serve(lambda _: Response(status=403, headers=headers))

    with pytest.raises(SourceThrottledError) as caught:
        api.records()

    assert caught.value.retry_after_seconds == 600


def test_waits_before_a_limit_is_overrun(api: Api) -> None:
    limits = {"RateLimit-Remaining": "0", "RateLimit-Reset": "5"}
    pages: list[Any] = [
        {"items": [2], "n": 2},
        Response('{"items": [1], "n": 2}', headers=limits, content_type="application/json"),
    ]
    api.serve(lambda _: pages.pop())

    assert api.records({"type": "page_number", "total_path": "$.n"}) == [1, 2]
    assert api.naps == [5.0]


def test_a_pause_for_which_a_call_has_no_time_is_left_to_others(api: Api) -> None:
    api.serve(lambda _: Response(status=503, headers={"Retry-After": "3"}))
    limits = RunLimits(remaining_seconds=lambda: 2)
    client = SourceClient(api.source(), str, limits=limits, sleep=api.naps.append)

    with pytest.raises(SourceUnavailableError) as caught:
        client.send(SourceRequest(api.server.url_for("/items")))

    assert (caught.value.retry_after_seconds, api.naps) == (3, [])


def test_a_rate_is_shared(api: Api) -> None:
    api.serve(lambda _: {"items": []})
    source = api.source(call_budget={"max_requests_per_second": 4})
    limits = RunLimits(endpoints_at_once=2)
    client = SourceClient(source, str, limits=limits, sleep=api.naps.append, monotonic=lambda: 0.0)
    request = SourceRequest(api.server.url_for("/items"))

    client.send(request)
    client.send(request)

    assert api.naps == [0.5]


def test_a_rate_for_which_a_call_has_no_time_is_left_to_the_next(api: Api) -> None:
    api.serve(lambda _: {"items": []})
    source = api.source(call_budget={"max_requests_per_second": 0.01})
    client = SourceClient(source, str, limits=RunLimits(remaining_seconds=lambda: 60))
    request = SourceRequest(api.server.url_for("/items"))
    client.send(request)

    with pytest.raises(SourceThrottledError) as caught:
        client.send(request)

    assert caught.value.retry_after_seconds == pytest.approx(100, abs=5)


@pytest.mark.parametrize(("status", "sent"), [(307, "POST"), (308, "POST")])
def test_a_post_stays_one_when_it_is_redirected(api: Api, status: int, sent: str) -> None:
    api.serve(lambda _: Response(status=status, headers={"Location": "/new"}))
    api.serve(lambda r: {"method": r.method, "body": r.get_data(as_text=True)}, "/new")
    client = SourceClient(api.source(), str)

    answer = client.send(SourceRequest(api.server.url_for("/items"), method="POST", body=b"{}"))

    assert json.loads(answer.body) == {"method": sent, "body": "{}"}


def test_a_redirect_that_would_lose_the_body_of_a_post_is_refused(api: Api) -> None:
    api.serve(lambda _: Response(status=302, headers={"Location": "/new"}))
    client = SourceClient(api.source(), str)

    with pytest.raises(SourceShapeError, match="302 would lose the body of a POST"):
        client.send(SourceRequest(api.server.url_for("/items"), method="POST", body=b"{}"))


def test_a_status_that_a_request_accepts_is_an_answer(api: Api) -> None:
    api.serve(lambda _: Response("none", status=404))
    client = SourceClient(api.source(), str)
    url = api.server.url_for("/items")

    answer = client.send(SourceRequest(url, accept_statuses=frozenset({404})))

    assert (answer.status, answer.body) == (404, b"none")


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
        client.send(SourceRequest(source.base_url + "/items"))

    error: BaseException | None = caught.value
    while error:
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__
    client.close()


def test_says_unavailable_when_no_one_answers() -> None:
    source = Source.model_validate({"source": "s", "base_url": "http://127.0.0.1:9"})
    client = SourceClient(source, lambda _: SECRET, sleep=lambda _: None)

    with pytest.raises(SourceUnavailableError, match=r"ConnectionError: connection refused$"):
        client.send(SourceRequest("http://127.0.0.1:9/items"))

    client.close()
