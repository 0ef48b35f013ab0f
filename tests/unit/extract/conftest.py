"""A source on loopback, for the tests of extraction."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from lakekit.config.source import Source
from lakekit.contract.endpoint import Endpoint
from lakekit.extract import Page, SourceClient, extract_pages

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
