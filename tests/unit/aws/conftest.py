"""Recorded answers of services, for the tests of the adapters."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber


class Stubs:
    """Clients that answer what a test gives them, in order, and nothing else."""

    def __init__(self) -> None:
        self.stubbers: dict[str, Stubber] = {}

    def __getitem__(self, service: str) -> Any:
        return self._stubber(service).client

    def answer(self, service: str, method: str, response: Any = None, **asked: Any) -> None:
        self._stubber(service).add_response(method, response or {}, asked or None)

    def refuse(self, service: str, method: str, code: str, status: int = 400) -> None:
        self._stubber(service).add_client_error(method, code, http_status_code=status)

    def _stubber(self, service: str) -> Stubber:
        if service not in self.stubbers:
            keys: Any = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
            client = boto3.client(service, "eu-central-1", **keys)  # type: ignore[call-overload]
            self.stubbers[service] = Stubber(client)
            self.stubbers[service].activate()
        return self.stubbers[service]


@pytest.fixture
def stubs() -> Iterator[Stubs]:
    stubs = Stubs()
    yield stubs
    for stubber in stubs.stubbers.values():
        stubber.assert_no_pending_responses()
