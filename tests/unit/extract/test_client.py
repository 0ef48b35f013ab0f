"""How a source is asked: its errors, pauses and budget, redirects, and secrets."""

import pytest
from werkzeug import Response

from lakekit.config.source import Source
from lakekit.errors import (
    CallBudgetExceededError,
    LakekitError,
    SourceRejectedError,
    SourceThrottledError,
    SourceUnavailableError,
)
from lakekit.extract import SourceClient, SourceRequest
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
        client.send(SourceRequest(source.base_url + "/items"))

    error: BaseException | None = caught.value
    while error:
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__
    client.close()


def test_says_unavailable_when_no_one_answers() -> None:
    source = Source.model_validate({"source": "s", "base_url": "http://127.0.0.1:9"})
    client = SourceClient(source, lambda _: SECRET)

    with pytest.raises(SourceUnavailableError, match="ConnectionError"):
        client.send(SourceRequest("http://127.0.0.1:9/items"))

    client.close()
