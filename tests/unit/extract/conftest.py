"""A source on loopback, for the tests of extraction."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.contract.endpoint.placeholders import RunValues
from lakekit.extract import Page, SourceClient, extract_pages

SECRET = "s3cret-value"  # noqa: S105
NOON = datetime(2026, 1, 31, 12, 30, 15, 250_000, tzinfo=UTC)
VALUES = RunValues(NOON.replace(hour=13), NOON, "dev")


def contract_of(endpoint: dict[str, Any], columns: dict[str, str]) -> Contract:
    """Return a contract with an endpoint; the first column is the key."""
    schema = [{"name": name, "type": kind} for name, kind in columns.items()]
    return Contract.model_validate(
        {"contract": "items", "source": "s", "endpoint": endpoint, "schema": schema,
         "history": {"keys": [schema[0]["name"]]}}
    )  # fmt: skip


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
        self,
        paginator: dict[str, Any] | None = None,
        *,
        resume: Any = None,
        endpoint: dict[str, Any] | None = None,
        columns: dict[str, str] | None = None,
        **source: Any,
    ) -> Iterator[Page]:
        contract = contract_of(
            {"path": "/items", "records": "$.items", "params": {"q": "1"}}
            | ({"paginator": paginator} if paginator else {})
            | (endpoint or {}),
            columns or {"id": "bigint"},
        )
        found = self.source(**source)
        client = SourceClient(
            found, lambda _: SECRET, sleep=self.naps.append, monotonic=lambda: 0.0
        )
        try:
            yield from extract_pages(found, contract, client, VALUES, resume=resume)
        finally:
            client.close()

    def records(self, paginator: dict[str, Any] | None = None, **more: Any) -> list[Any]:
        return [json.loads(r) for page in self.pages(paginator, **more) for r in page.records]


@pytest.fixture
def api(httpserver: HTTPServer) -> Api:
    return Api(httpserver)


def page_of(request: Request) -> int:
    return int(request.args["page"])
