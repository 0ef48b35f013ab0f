"""The API of changes: the contract of its example reads all of them, from where it has got to."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from examples.time_zone_changes.server import ChangesServer, changes
from lakekit.config.source import load_source
from lakekit.contract.checked import CheckedContract
from lakekit.contract.endpoint.placeholders import RunValues
from lakekit.extract import SourceClient, extract_steps, values_of_steps
from tests.docs.pages import ROOT

EXAMPLE = ROOT / "examples/time_zone_changes"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def api() -> Iterator[ChangesServer]:
    with ChangesServer("2022b") as server:
        yield server


def read_since(api: ChangesServer, since: str) -> list[dict[str, object]]:
    source = load_source((EXAMPLE / "source.yaml").read_text())
    source = source.model_copy(update={"base_url": api.address})
    contract = CheckedContract.from_yaml((EXAMPLE / "contract.yaml").read_text(), name="contract")
    values = RunValues(NOW, NOW, "dev")
    steps = values_of_steps(contract.endpoint.incremental, since, values)
    client = SourceClient(source, lambda _: "")
    pages = extract_steps(source, contract, client, steps)
    return [json.loads(record) for page in pages for record in page.records]


def test_all_changes_of_what_is_published_are_read_with_deletions(api: ChangesServer) -> None:
    found = read_since(api, "2020-01-01T00:00:00Z")

    assert found == [change for release, _, change in changes() if release <= "2022b"]
    assert sum(change["deleted"] is True for change in found) == 33
    assert len(api.asked) == 5


def test_a_watermark_leaves_out_what_is_older(api: ChangesServer) -> None:
    found = read_since(api, "2021-09-24T23:23:00Z")

    assert {change["released_at"] for change in found} == {
        "2021-09-24T23:23:00Z", "2022-08-10T22:38:32Z",
    }  # fmt: skip
    assert len(api.asked) == 1


@pytest.mark.parametrize(
    "query", ["", "since=soon", "since=2020-01-01", "since=2020-01-01T00:00:00Z&cursor=x"]
)
def test_a_wrong_request_is_refused(api: ChangesServer, query: str) -> None:
    status, body = api.get(f"/changes?{query}")

    assert status == 400
    assert b"since" in body
