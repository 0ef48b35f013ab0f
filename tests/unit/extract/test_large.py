"""Records of a body that is in a file are those of the same body in memory."""

import gzip
import io
import json
import zipfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug import Response

from lakekit.contract.endpoint.paths import path_steps
from lakekit.errors import SourceShapeError
from lakekit.extract.content import records as contents
from lakekit.extract.content.json_paths import JsonText, UnreadableError
from lakekit.extract.content.large import LargeRecords
from lakekit.extract.content.large_json import ElsewhereError, split_json
from lakekit.extract.http import bodies
from tests.unit.extract.conftest import Api, page_of


def cut_records(text: bytes, path: str) -> list[bytes]:
    found = JsonText(text)
    found.at(path_steps(path))
    return found.items(path_steps(path))


def split(text: bytes, path: str = "$.items") -> tuple[bytes, list[bytes]]:
    text = text.removeprefix(b"\xef\xbb\xbf")
    around, records = split_json(lambda: io.BytesIO(text), path_steps(path), list, b"[]")
    assert len([*records]) == len(records)
    return around.text, [*records]


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakekit.json_text.stream.WINDOW", 7)
    monkeypatch.setattr("lakekit.extract.content.large_json.WINDOW", 7)


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
        ('{"pages":[{"x":[]},{"items":[{"a":1}],"n":2}],"z":1}', "$.pages[1].items"),
        ('{"items":[[[[[[{"a":[1,{"b":"]"}]}],2]]]],3]}', "$.items"),
    ],
)  # fmt: skip
def test_records_are_those_of_the_body_in_memory(text: str, path: str) -> None:
    around, records = split(text.encode(), path)

    assert records == cut_records(text.encode(), path)
    assert cut_records(around, path) == []
    whole, rest = json.loads(text.removeprefix("\ufeff")), json.loads(around)
    for part in path_steps(path)[:-1]:
        whole, rest = whole[part], rest[part]
    if path != "$":
        del whole[path_steps(path)[-1]], rest[path_steps(path)[-1]]
        assert rest == whole


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"items":[{"a":1},{"a":', "ends early"), ('{"items":[{"a":1}', "ends early"),
        ('{"items":[{"a":1}]', "ends early"), ('{"items":[,{"a":1}]}', "a comma too many"),
        ('{"items":[{"a":1},]}', "a comma too many"),
        ('{"items":[{"a":1}}}', "brackets do not match"), ('{"items":[{"a":1}]} x', "not JSON"),
        ("", "ends before"), ('{"items"', "ends before"),
        ('{"items":{"a":[]}}', "no list of records"), ('{"other":[]}', "no 'items' on the way"),
        ("[]", "no 'items' on the way"), ('{"items":[{"a":1}],"items":[]}', "items twice"),
    ],
)  # fmt: skip
def test_what_is_no_whole_body_is_refused(text: str, fault: str) -> None:
    with pytest.raises((SourceShapeError, UnreadableError, ElsewhereError), match=fault):
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
        except (SourceShapeError, UnreadableError, ElsewhereError):
            continue
        assert records == cut_records(damaged, "$.items")


def test_a_record_longer_than_one_may_be_is_refused_before_it_is_read_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lakekit.json_text.stream.WINDOW", 1 << 20)
    file = io.BytesIO(b'{"items":[{"a":"' + b"x" * (20 << 20) + b'"}]}')

    with pytest.raises(SourceShapeError, match="more than 8 MiB"):
        split_json(lambda: file, ("items",), list, b"[]")

    assert len(file.read()) > 8 << 20


def test_pages_whose_bodies_are_in_files_follow_each_other(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "MOST_IN_MEMORY", 50)
    monkeypatch.setattr(contents, "MOST_AT_ONCE", 50)
    monkeypatch.setattr(bodies, "_CHUNK", 20)
    pages = {1: [*range(100)], 2: [*range(100, 130)]}
    api.serve(lambda r: {"n": 2, "items": [{"id": n} for n in pages[page_of(r)]]})
    paginator = {"type": "page_number", "total_path": "$.n"}

    found = []
    for page in api.pages(paginator):
        assert isinstance(page.records, LargeRecords)
        found += [json.loads(record)["id"] for record in page.records]

    assert found == [*range(130)]


XML = {"response": {"format": "xml"}, "records": "$.f.i"}
TWO = [b'{"id":1}', b'{"id": 2}']
NAMED = [b'{"id":1,"name":"a"}', b'{"id":2,"name":null}']


def packed_as(body: str, packing: str) -> bytes:
    if packing == "utf-16":
        return body.encode("utf-16")
    if packing == "gzip":
        return gzip.compress(body.encode())
    if packing == "plain":
        return body.encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", body)
    return file.getvalue()


@pytest.mark.parametrize(
    ("body", "endpoint", "records"),
    [
        ('{"id":1}\n\n{"id": 2}\nno JSON\n', {"response": {"format": "ndjson"}, "records": "$"},
         [*TWO, b"no JSON"]),
        ("id;name\n1;a\n2;\n",
         {"response": {"format": "csv", "delimiter": ";"}, "records": "$"}, NAMED),
        ('{"items":{"a":{"id":1},"b":{"id": 2}}}', {"shape": "map"}, TWO),
        ('{"items":{"a":{"id":1},"b":{"id": 2}}}', {"shape": "map", "map_key": "k"},
         [b'{"k":"a","value":{"id":1}}', b'{"k":"b","value":{"id": 2}}']),
        ('{"items":{"id": 2,"x":[]}}', {"shape": "object"}, [b'{"id": 2,"x":[]}']),
        ('{"items":null,"x":"y"}', {"absent_records": "empty"}, []),
        ('{"items":[{"of":{"id":1}},{"of":{"id": 2}}]}', {"records": "$.items[*].of"}, TWO),
        ('{"p":[0,{"items":[{"id":1},{"id": 2}]}]}', {"records": "$.p[1].items"}, TWO),
        ('{"items":[{"id":1,"x":NaN},{"id":2}]}', {}, [b'{"id":1,"x":NaN}', b'{"id":2}']),
        ("<f><n>3</n><i><id>1</id><name>a</name></i><i id=\"x>\"/><x/><!-- <i> --><i><id>2</id></i>"
         "</f>", XML, [NAMED[0], b'{"@id":"x>"}', b'{"id":2}']),
        ("<f><i><id>1</id><name>a</name></i></f>", XML, NAMED[:1]),
        ("<f><n>nothing came</n></f>", XML | {"absent_records": "empty"}, []),
        ("<f><g><i><id>1</id></i><i><id>2</id></i></g><g><i><id>3</id></i><i/></g></f>",
         XML | {"records": "$.f.g[*].i[*]"}, [b'{"id":1}', b'{"id":2}', b'{"id":3}', b"null"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("packing", ["plain", "gzip", "zip", "utf-16"])
def test_each_format_is_read_from_a_file(
    api: Api, monkeypatch: pytest.MonkeyPatch, body: str, endpoint: Any, records: Any, packing: str
) -> None:
    monkeypatch.setattr(bodies, "MOST_IN_MEMORY", 10)
    monkeypatch.setattr(contents, "MOST_AT_ONCE", 10)
    monkeypatch.setattr("lakekit.extract.content.xml_text.WINDOW", 10)
    found = packed_as(body, packing)
    api.serve(lambda _: Response(found, content_type="application/octet-stream"))

    pages = api.pages(endpoint=endpoint, columns={"id": "bigint", "name": "string"})

    assert [record for page in pages for record in page.records] == records


@pytest.mark.parametrize(
    ("body", "endpoint", "fault"),
    [
        ("<f><g><i/></g><g><i/></g></f>", XML | {"records": "$.f.g.i"}, "several elements g"),
        ("<f><i>" + "<a/>" * 50 + "</i></f>", XML, "a record of more than"),
        ("<f>" + "<a/>" * 50 + "<i/></f>", XML, "around its records"),
        ("<f><i/><i>", XML, "not XML"),
        ('<!DOCTYPE f [<!ENTITY a "b">]><f><i>&a;</i></f>', XML, "entities"),
        ('{"items":{"a":1},"x":[1,2,3]}' + " " * 300, {}, "there is no list of records"),
        ('{"items":{"a":' + "1" * 300 + "}}", {"shape": "object"}, "shape is object"),
    ],
)
def test_what_is_large_and_no_list_of_records_is_refused(
    api: Api, monkeypatch: pytest.MonkeyPatch, body: str, endpoint: Any, fault: str
) -> None:
    monkeypatch.setattr(contents, "MOST_AT_ONCE", 10)
    monkeypatch.setattr(contents, "LONGEST_LINE", 200)
    monkeypatch.setattr("lakekit.extract.content.xml_text.MOST_XML", 100)
    monkeypatch.setattr("lakekit.extract.content.xml_text._CHUNK", 10)
    api.serve(lambda _: Response(body, content_type="application/octet-stream"))

    with pytest.raises(SourceShapeError, match=fault):
        api.records(endpoint=endpoint)


@pytest.mark.parametrize("most", [10, 1 << 20])
def test_xml_with_too_many_levels_is_refused(
    api: Api, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(contents, "MOST_AT_ONCE", most)
    body = "<f>" + "<i>" * 5000 + "</i>" * 5000 + "</f>"
    api.serve(lambda _: Response(body, content_type="text/xml"))

    with pytest.raises(SourceShapeError, match="too many levels"):
        api.records(endpoint=XML)


def test_an_error_in_a_large_answer_is_one(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MOST_IN_MEMORY", 10)
    monkeypatch.setattr(contents, "MOST_AT_ONCE", 10)
    api.serve(lambda _: {"items": [{"id": 1}], "errors": ["no"]})

    with pytest.raises(SourceShapeError, match=r"errors under \$.errors"):
        api.records(endpoint={"errors": ["$.errors"]})
