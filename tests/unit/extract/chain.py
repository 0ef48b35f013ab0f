"""A client that gives answers in their order, and keeps what was asked."""

import json
from collections.abc import Iterator
from typing import Any

from requests.structures import CaseInsensitiveDict

from lakekit.extract import Answer, Page, SourceRequest, extract_pages
from tests.unit.extract.conftest import VALUES, contract_of
from tests.unit.extract.scripted import SOURCE


def reply(body: Any = b"", status: int = 200, **headers: str) -> Answer:
    """Return an answer; `_` in the names of headers is a minus."""
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer("https://api.example/items", status, CaseInsensitiveDict(named), text)


class Chain:
    """A client with answers; each is given once."""

    def __init__(self, *answers: Any, **source: Any) -> None:
        self.source = SOURCE.model_copy(update=source)
        self.answers = [each if isinstance(each, Answer) else reply(each) for each in answers]
        self.asked: list[SourceRequest] = []
        self.calls = 0

    def send(self, request: SourceRequest) -> Answer:
        self.calls += 1
        self.asked.append(request)
        return self.answers.pop(0)

    def pages(
        self, columns: dict[str, str] | None = None, *, resume: Any = None, **endpoint: Any
    ) -> Iterator[Page]:
        contract = contract_of(
            {"path": "/items", "records": "$.items", **endpoint}, columns or {"id": "int"}
        )
        return extract_pages(self.source, contract, self, VALUES, resume=resume)  # type: ignore[arg-type]

    def land(self, columns: dict[str, str] | None = None, **endpoint: Any) -> list[bytes]:
        return [record for page in self.pages(columns, **endpoint) for record in page.records]
