"""Records of a body that is in a file are those of the same body in memory."""

import gzip
import io
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug import Response

from lakekit.contract.endpoint.paths import path_steps
from lakekit.errors import SourceShapeError
from lakekit.extract import Answer, large
from lakekit.extract.http import bodies
from lakekit.extract.json_text import JsonText, UnreadableError, items_of
from lakekit.extract.large import LargeRecords, split_large
from tests.unit.extract.conftest import Api, page_of


def path_parts(path: str) -> tuple[str, ...]:
    return tuple(str(step) for step in path_steps(path))


def cut_records(text: bytes, path: str) -> list[bytes]:
    found = JsonText(text)
    found.at(path_steps(path))
    return found.items(path_steps(path))


def split(text: bytes, path: str = "$.items") -> tuple[bytes, list[bytes]]:
    answer = Answer("https://a.org", 200, {}, b"", large=io.BytesIO(text))
    around, records = split_large(answer, path_parts(path), items_of)
    assert len([*records]) == len(records)
    return around.body, [*records]


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "WINDOW", 7)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"items": [{"a": 1.10}, {"a":\n[1, {"b": "]}"}]}],"next":"/2"}', "$.items"),
        ('{"n":{"items":[1,2]},"x":"{[","d\\"":[[]],"d":{"items" : [ {} , {"k":"\\\\"} ] }}',
         "$.d.items"),
        ('\ufeff [{"a":"\\ud83d"}, {"é":"ü😀"}] ', "$"),
        ('{"items":[]}', "$.items"), ('{"items":[ ]}', "$.items"), ("[]", "$"),
        ('{"a":null,"b":true,"c":-1.5e3,"items":[{"x":1}]}', "$.items"),
        ('{"\\u0069tems":[{"x":1}]}', "$.items"),
        ('{"items":[null,{},"text",[{}]]}', "$.items"),
    ],
)  # fmt: skip
def test_records_are_those_of_the_body_in_memory(text: str, path: str) -> None:
    around, records = split(text.encode(), path)

    assert records == cut_records(text.encode(), path)
    assert cut_records(around, path) == []
    whole, rest = json.loads(text.removeprefix("\ufeff")), json.loads(around)
    for part in path_parts(path)[:-1]:
        whole, rest = whole[part], rest[part]
    if path != "$":
        del whole[path_parts(path)[-1]], rest[path_parts(path)[-1]]
        assert rest == whole


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"items":[{"a":1},{"a":', "ends before its end"), ('{"items":[{"a":1}', "ends before"),
        ('{"items":[{"a":1}]', "ends before"), ('{"items":[,{"a":1}]}', "not JSON"),
        ('{"items":[{"a":1},]}', "not JSON"), ('{"items":[{"a":1}{"a":2}]}', "not JSON"),
        ('{"items":[{"a":1}}}', "not JSON"), ('{"items":[{"a":1}]} x', "not JSON"),
        ("", "ends before"), ('{"items"', "ends before"),
        ('{"items":{"a":[]}}', "in one list"), ('{"other":[]}', "no 'items' on the way"),
        ("[]", "no object around 'items'"), ('{"items":[{"a":1}],"items":[]}', "'items' twice"),
    ],
)  # fmt: skip
def test_what_is_no_whole_body_is_refused(text: str, fault: str) -> None:
    with pytest.raises((SourceShapeError, UnreadableError), match=fault):
        split(text.encode())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=3), max_size=6),
    st.dictionaries(st.text(max_size=5).filter(lambda name: name != "items"), VALUES, max_size=3),
    st.sampled_from([None, 1]),
)
def test_any_body_is_cut_as_in_memory(records: list[Any], around: Any, indent: int | None) -> None:
    text = json.dumps(around | {"items": records, "z": 1}, indent=indent).encode()

    assert split(text)[1] == cut_records(text, "$.items")


@given(st.binary(max_size=40), st.integers(0, 40))
def test_any_bytes_are_cut_or_refused(noise: bytes, place: int) -> None:
    text = b'{"items": [{"a": "b"}, {"c": [1]}], "n": 1}'
    for damaged in (text[:place], text[:place] + noise + text[place:]):
        try:
            _, records = split(damaged)
        except (SourceShapeError, UnreadableError):
            continue
        assert records == cut_records(damaged, "$.items")


def test_a_record_longer_than_one_may_be_is_refused_before_it_is_read_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(large, "WINDOW", 1 << 20)
    file = io.BytesIO(b'{"items":[{"a":"' + b"x" * (20 << 20) + b'"}]}')

    with pytest.raises(SourceShapeError, match="more than 8 MiB"):
        split_large(Answer("u", 200, {}, b"", large=file), ("items",), msgspec.json.decode)

    assert len(file.read()) > 8 << 20


def test_pages_whose_bodies_are_in_files_follow_each_other(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "MOST_IN_MEMORY", 50)
    monkeypatch.setattr(bodies, "_CHUNK", 20)
    pages = {1: [*range(100)], 2: [*range(100, 130)]}
    api.serve(lambda r: {"n": 2, "items": [{"id": n} for n in pages[page_of(r)]]})
    paginator = {"type": "page_number", "total_path": "$.n"}

    found = []
    for page in api.pages(paginator):
        assert isinstance(page.records, LargeRecords)
        found += [json.loads(record)["id"] for record in page.records]

    assert found == [*range(130)]


@pytest.mark.parametrize(
    ("body", "endpoint", "records"),
    [
        ('{"id":1}\n\n{"id": 2}\nno JSON\n', {"response": {"format": "ndjson"}, "records": "$"},
         [b'{"id":1}', b'{"id": 2}', b"no JSON"]),
        ("id;name\n1;a\n2;\n",
         {"response": {"format": "csv", "delimiter": ";"}, "records": "$"},
         [b'{"id":1,"name":"a"}', b'{"id":2,"name":null}']),
        ('{"items":{"a":{"id":1},"b":{"id":2}}}', {"shape": "map"}, [b'{"id":1}', b'{"id":2}']),
        ('{"items":[{"of":{"id":1}},{"of":{"id": 2}}]}', {"records": "$.items[*].of"},
         [b'{"id":1}', b'{"id": 2}']),
        ('{"items":[{"id":1,"x":NaN},{"id":2}]}', {}, [b'{"id":1,"x":NaN}', b'{"id":2}']),
    ],
)  # fmt: skip
@pytest.mark.parametrize("packed", [False, True])
def test_each_format_is_read_from_a_file(
    api: Api, monkeypatch: pytest.MonkeyPatch, body: str, endpoint: Any, records: Any, packed: bool
) -> None:
    monkeypatch.setattr(bodies, "MOST_IN_MEMORY", 10)
    found = gzip.compress(body.encode()) if packed else body.encode()
    api.serve(lambda _: Response(found, content_type="application/octet-stream"))

    pages = api.pages(endpoint=endpoint, columns={"id": "bigint", "name": "string"})

    assert [record for page in pages for record in page.records] == records


def test_an_error_in_a_large_answer_is_one(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MOST_IN_MEMORY", 10)
    api.serve(lambda _: {"items": [{"id": 1}], "errors": ["no"]})

    with pytest.raises(SourceShapeError, match=r"errors under \$.errors"):
        api.records(endpoint={"errors": ["$.errors"]})
