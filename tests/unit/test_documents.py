"""Documents are read tolerantly, and refused only in a form of a newer release."""

import json

import pytest

from lakekit.config.source import load_source
from lakekit.errors import LandingCorruptError, NewerDocumentError
from lakekit.runs.documents import Run
from tests.unit.runs.kit import NOON, contract

RUN = Run(
    run_id="r",
    started_at=NOON,
    extraction_time=NOON,
    source=load_source("source: shop\nbase_url: https://shop.example"),
    contracts=(contract("orders"), contract("clients")),
)


def test_fields_of_a_newer_release_are_ignored_wherever_they_are() -> None:
    value = json.loads(RUN.to_json())
    for place in (
        value,
        value["source"],
        value["contracts"][1],
        value["contracts"][1]["history"],
        value["contracts"][1]["schema"][0],
        value["contracts"][0]["endpoint"]["paginator"],
    ):
        place["from_the_future"] = {"a": [1]}

    assert Run.parse(json.dumps(value).encode(), name="run.json") == RUN


def test_fields_that_an_older_release_did_not_write_have_their_defaults() -> None:
    value = json.loads(RUN.to_json())
    del value["origin"], value["schema_version"], value["contracts"][0]["version"]

    assert Run.parse(json.dumps(value).encode(), name="run.json") == RUN


def test_a_higher_version_is_refused_in_words() -> None:
    text = RUN.to_json().replace(b'"schema_version": 1', b'"schema_version": 2')

    with pytest.raises(NewerDocumentError, match=r"run\.json: has schema_version 2, this release"):
        Run.parse(text, name="run.json")


@pytest.mark.parametrize("text", [b"", b"nonsense", b"[]", b'{"run_id": 1}', b'"a"', b"\xff"])
def test_what_is_no_such_document_is_named(text: bytes) -> None:
    with pytest.raises(LandingCorruptError, match=r"run\.json: not a Run"):
        Run.parse(text, name="run.json")
