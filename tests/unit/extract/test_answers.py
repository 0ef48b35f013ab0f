"""What answers hold: formats, shapes, charsets, packed files, and records that are none."""

import gzip
import io
import json
import zipfile
from typing import Any

import pytest

from lakekit.errors import SourceShapeError
from tests.unit.extract.chain import Chain, reply

COLUMNS = {"id": "bigint", "name": "string", "price": "decimal(10,2)", "ok": "boolean"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("$", b'[{"id": 1}, {"id": 2}]'),
        ("$[*]", b'[{"id": 1}, {"id": 2}]'),
        ("$.value[*]", b'{"value": [{"id": 1}, {"id": 2}]}'),
        ("$.edges[*].node", b'{"edges": [{"node": {"id": 1}}, {"c": 1, "node": {"id": 2}}]}'),
        ("$.groups[*].items[*]", b'{"groups": [{"items": [{"id": 1}]}, {"items": [{"id": 2}]}]}'),
        ("$[*][0]", b'[[{"id": 1}, 7], [{"id": 2}]]'),
        ("$[1]", b'[{"page": 1}, [{"id": 1}, {"id": 2}]]'),
        ("$['my items']", b'{"my items": [{"id": 1}, {"id": 2}]}'),
        ("$['a.b']", b'{"a.b": [{"id": 1}, {"id": 2}], "a": {"b": []}}'),
        ('$["it\'s"]', b'{"it\'s": [{"id": 1}, {"id": 2}]}'),
        (r"$['it\'s']", b'{"it\'s": [{"id": 1}, {"id": 2}]}'),
        ("$.größe", '{"größe": [{"id": 1}, {"id": 2}]}'.encode()),
        ("$.größe", b'{"gr\\u00f6\\u00dfe": [{"id": 1}, {"id": 2}]}'),
        ("$['']", b'{"": [{"id": 1}, {"id": 2}]}'),
    ],
)
def test_records_are_found_at_any_path(path: str, body: bytes) -> None:
    assert Chain(reply(body)).land(records=path) == [b'{"id": 1}', b'{"id": 2}']


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("$.a.b", {"a": {}}, r"\$\.a\.b is absent in the answer; absent_records: empty"),
        ("$.a.b", {}, r"\$\.a, on the way to \$\.a\.b, is absent"),
        ("$.a.b", {"a": None}, r"\$\.a, on the way to \$\.a\.b, is null"),
        ("$.a.b", {"a": {"b": None}}, r"\$\.a\.b is null"),
        ("$.a.b", {"a": [1]}, r"\$\.a is a list, not an object"),
        ("$.a", {"a": "x"}, r"\$\.a is a text, not a list"),
        ("$.a", {"a": {"id": 1}}, r"\$\.a is an object, not a list"),
        ("$.a[*].b", {"a": [{"b": 1}, {"c": 1}]}, "an object in the records has no 'b'"),
        ("$.a[*].b", {"a": [{"b": 1}, 7]}, "a value in the records has no 'b'"),
        ("$.a[*][*]", {"a": [[1], {}]}, "below the records is an object, no list"),
        ("$[3]", [1], r"\$\[3\] is absent"),
        ("$[0]", {"a": 1}, r"\$ is an object, not a list"),
    ],
)
def test_says_what_is_where_records_should_be(path: str, body: Any, message: str) -> None:
    with pytest.raises(SourceShapeError, match=message):
        Chain(body).land(records=path)


@pytest.mark.parametrize("body", [{"a": {"b": None}}, {"a": {}}, {"a": None}, {}])
def test_null_and_absent_are_no_records_where_declared(body: Any) -> None:
    assert Chain(body).land(records="$.a.b", absent_records="empty") == []


def test_the_last_page_may_have_null_where_declared() -> None:
    """dlt #2932."""
    paginator = {"type": "cursor", "cursor_path": "$.next"}
    answers = {"items": [1], "next": "b"}, {"items": None, "next": None}

    assert Chain(*answers).land(paginator=paginator, absent_records="empty") == [b"1"]


def test_one_object_and_a_map_are_records_where_declared() -> None:
    users = b'{"users": {"4": {"n":  1.10}, "x\\"y": {}}}'
    path = {"records": "$.users", "shape": "map"}

    assert Chain(reply(users)).land(**path) == [b'{"n":  1.10}', b"{}"]
    assert Chain(reply(users)).land(**path, map_key="id") == [
        b'{"id":"4","value":{"n":  1.10}}', b'{"id":"x\\"y","value":{}}',
    ]  # fmt: skip
    assert Chain(reply(users)).land(records="$.users", shape="object") == [users[10:-1]]
    assert Chain(reply(b'{"id": 1}')).land(records="$", shape="object") == [b'{"id": 1}']
    with pytest.raises(SourceShapeError, match="is a list, not an object"):
        Chain({"users": []}).land(**path)


@pytest.mark.parametrize(
    "body",
    [
        b'{"items": [{"id": 1}], "items": []}',
        b'{"items": [], "items": [{"id": 1}]}',
        b'{"items" : [], "it\\u0065ms": [{"id": 1}]}',
        b'{"items": [NaN], "items": []}',
    ],
)
def test_a_name_on_the_way_that_is_there_twice_is_refused(body: bytes) -> None:
    with pytest.raises(SourceShapeError, match=r"the answer has \$\.items twice"):
        Chain(reply(body)).land()


def test_names_within_records_do_not_count_as_twice() -> None:
    body = b'{ "items": [{"items": [], "next": "\\u00e4"}], "next": null , "x": {"items": 1}}'

    assert Chain(reply(body)).land() == [b'{"items": [], "next": "\\u00e4"}']


@pytest.mark.parametrize(
    ("value", "is_error"),
    [
        (["x"], True), ({"a": 1}, True), ("busy", True), (1, True), (True, True),
        ([], False), ({}, False), ("", False), (None, False), (False, False), (0, False),
    ],
)  # fmt: skip
def test_errors_with_status_200_are_errors_where_declared(value: Any, is_error: bool) -> None:
    paginator = {"type": "cursor", "cursor_path": "$.next"}
    answers = {"items": [1], "next": "b", "status": {"faults": value}}, {"items": [2]}
    endpoint = {"errors": ["$.status.faults"], "paginator": paginator}

    if is_error:
        with pytest.raises(SourceShapeError, match=r"has errors under \$\.status\.faults"):
            Chain(*answers).land(**endpoint)
    else:
        assert Chain(*answers).land(**endpoint) == [b"1", b"2"]


def test_a_list_has_no_errors_field() -> None:
    assert Chain([1]).land(records="$", errors=["$.errors"]) == [b"1"]


def test_errors_of_graphql_are_errors_undeclared() -> None:
    body = {"data": {"all": [1]}, "errors": [{"message": "no access to a field"}]}

    with pytest.raises(SourceShapeError, match=r"under \$\.errors: .*no access"):
        Chain(body).land(records="$.data.all", body={"graphql": {"query": "{ all }"}})


def test_ndjson_is_a_record_a_line() -> None:
    body = b'{"id": 1}\r\n\n{"id": NaN}\n  {"id": 3}  \nnot json\n'

    landed = Chain(reply(body)).land(records="$", response={"format": "ndjson"})

    assert landed == [b'{"id": 1}', b'{"id": NaN}', b'{"id": 3}', b"not json"]
    assert Chain(reply(b"")).land(records="$", response={"format": "ndjson"}) == []


def test_ndjson_may_have_its_records_within() -> None:
    body = b'{"op": "c", "row": {"id": 1}}\n{"row": {"id": 2}}\n'

    landed = Chain(reply(body)).land(records="$[*].row", response={"format": "ndjson"})

    assert landed == [b'{"id": 1}', b'{"id": 2}']


def test_a_last_line_that_is_cut_is_asked_for_once_more() -> None:
    cut, whole = reply(b'{"id": 1}\n{"id": 2'), reply(b'{"id": 1}\n{"id": 2}')
    endpoint = {"records": "$", "response": {"format": "ndjson"}}

    assert Chain(cut, whole).land(**endpoint) == [b'{"id": 1}', b'{"id": 2}']
    with pytest.raises(SourceShapeError, match="the last line of the answer is cut"):
        Chain(cut, cut).land(**endpoint)


CSV = {"records": "$", "response": {"format": "csv"}}


def test_rows_of_csv_become_records_of_the_types_of_the_contract() -> None:
    body = b'\xef\xbb\xbfid,name,price,ok,more\r\n1,"a, ""b""\n",01.50,True,7\r\n2,,n/a,,\r\n'

    landed = Chain(reply(body)).land(COLUMNS, **CSV)

    assert [json.loads(each) for each in landed] == [
        {"id": 1, "name": 'a, "b"\n', "price": 1.50, "ok": True, "more": "7"},
        {"id": 2, "name": None, "price": "n/a", "ok": None, "more": None},
    ]


def test_a_dialect_is_declared() -> None:
    response = {"format": "csv", "delimiter": ";", "quote": "'", "columns": ["id", "name"]}
    body = "1;'a;b'\n2;\"ü\"\n".encode("cp1252")

    landed = Chain(reply(body, Content_Type="text/csv; charset=windows-1252")).land(
        COLUMNS, records="$", response=response
    )

    assert [json.loads(each) for each in landed] == [
        {"id": 1, "name": "a;b"}, {"id": 2, "name": '"ü"'},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the answer is empty"),
        (b'{"error": "busy"}', "the header of the CSV lacks id"),
        (b"id;name\n1;a\n", "the header of the CSV lacks id"),
        (b"<html>", "begins with '<'"),
        (b"id,id\n1,2\n", "a name stands twice in the header"),
        (b'id,name\n1,"a\n', "not CSV"),
    ],
)
def test_what_is_not_the_declared_csv_is_no_source_without_rows(body: bytes, message: str) -> None:
    with pytest.raises(SourceShapeError, match=message):
        Chain(reply(body), reply(body)).land(COLUMNS, **CSV)


def test_a_row_that_does_not_fit_goes_on_to_the_quarantine() -> None:
    landed = Chain(reply(b"id,name\n1,a\n2\n3,c,d\n4,\xff\n")).land(COLUMNS, **CSV)

    assert landed == [
        b'{"id":1,"name":"a"}', b'["2"]', b'["3", "c", "d"]', b'["4", "\xff"]',
    ]  # fmt: skip


def test_pages_of_csv_are_walked_by_links_and_headers() -> None:
    first = reply(b"id\n1\n", Link='</items?p=2>; rel="next"', X_Total="2")
    chain = Chain(first, reply(b"id\n2\n", X_Total="2"))

    paginator = {"type": "link_header", "total": {"header": "X-Total"}}
    assert chain.land(**CSV, paginator=paginator) == [b'{"id":1}', b'{"id":2}']


FEED = b"""<?xml version="1.0" encoding="ISO-8859-1"?>
<a:feed xmlns:a="urn:x" total="2">
  <entry id="1"><name>gr\xf6\xdfe</name><tag>x</tag><at/><sub><n>5</n></sub></entry>
  <entry id="2"><name>b &amp; c</name><tag>x</tag><tag>y</tag><note lang="en">hi</note></entry>
</a:feed>"""


def test_elements_of_xml_become_records() -> None:
    columns = {"id": "bigint", "name": "string", "tag": "array<string>", "sub": "struct<n: int>"}
    chain = Chain(reply(FEED))

    landed = chain.land(
        columns, records="$['a:feed'].entry", response={"format": "xml"}, may_ignore=[]
    )

    assert [json.loads(each) for each in landed] == [
        {"@id": "1", "name": "größe", "tag": ["x"], "at": None, "sub": {"n": 5}},
        {"@id": "2", "name": "b & c", "tag": ["x", "y"],
         "note": {"@lang": "en", "#text": "hi"}},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ('<?xml version="1.0" encoding="ISO-8859-1"?><r><e>größe</e></r>'.encode(),
         "application/xml; charset=utf-8"),
        ('<?xml version="1.0" encoding="utf-8"?><r><e>größe</e></r>'.encode("cp1252"),
         "application/xml; charset=windows-1252"),
        ('<?xml version="1.0" encoding="UTF-16"?><r><e>größe</e></r>'.encode("utf-16"), "text/xml"),
        ('<?xml version="1.0" encoding="utf-8"?><r><e>größe</e></r>'.encode(), "text/xml"),
        ("<r><e>größe</e></r>".encode("utf-8-sig"), ""),
    ],
)  # fmt: skip
def test_the_type_of_an_answer_counts_more_than_what_its_xml_says(
    body: bytes, content_type: str
) -> None:
    answer = reply(body, Content_Type=content_type)

    assert Chain(answer).land(records="$.r.e", response={"format": "xml"}) == ['"größe"'.encode()]


def test_what_cannot_be_unwrapped_goes_on_to_the_quarantine() -> None:
    body = b'{"row": {"id": 1}}\n{"row": {"id": 2}\nnot json\n{"row": {"id": NaN}}\n'
    endpoint = {"records": "$[*].row", "response": {"format": "ndjson"}}

    assert Chain(reply(body)).land(**endpoint) == [
        b'{"id": 1}', b'{"row": {"id": 2}', b"not json", b'{"id": NaN}',
    ]  # fmt: skip
    with pytest.raises(SourceShapeError, match="no 'row'"):
        Chain(reply(b'{"rows": {"id": 1}}\n')).land(**endpoint)


def test_one_element_is_a_list_of_one_and_none_is_declared() -> None:
    endpoint = {"records": "$.r.e", "response": {"format": "xml"}}

    assert Chain(reply(b"<r><e>1</e></r>")).land(**endpoint) == [b'"1"']
    assert Chain(reply(b"<r><e/></r>")).land(**endpoint, absent_records="empty") == []
    assert Chain(reply(b"<r/>")).land(**endpoint, absent_records="empty") == []


def test_pages_of_xml_end_as_those_of_json_do() -> None:
    page = "<r><e><id>{}</id></e><next>{}</next><total>2</total></r>"
    chain = Chain(reply(page.format(1, "b").encode()), reply(page.format(2, "").encode()))

    landed = chain.land(
        records="$.r.e", response={"format": "xml"},
        paginator={"type": "cursor", "cursor_path": "$.r.next", "total": {"path": "$.r.total"}},
    )  # fmt: skip

    assert landed == [b'{"id":1}', b'{"id":2}']
    with pytest.raises(SourceShapeError, match=r"\$\.r\.total is 2 records"):
        Chain(reply(page.format(1, "").encode())).land(records="$.r.e", response={"format": "xml"})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<r><e>", "not XML"),
        (b"{}", "not XML"),
        (b'<!DOCTYPE r [<!ENTITY a "b">]><r><e>&a;</e></r>', "entities"),
        (b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><r><e>&a;</e></r>', "entities"),
    ],
)
def test_refuses_xml_that_is_broken_or_dangerous(body: bytes, message: str) -> None:
    with pytest.raises(SourceShapeError, match=message):
        Chain(reply(body), reply(body)).land(records="$.r.e", response={"format": "xml"})


def zipped(**files: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(f"folder/{name}", body)
    return file.getvalue()


def test_the_files_of_an_archive_are_read_in_their_order() -> None:
    body = zipped(b=b'{"items": [{"id": 1}]}', a=b'{"items": [{"id": 2}, NaN]}')

    assert Chain(reply(body)).land() == [b'{"id": 1}', b'{"id": 2}', b"NaN"]


def test_packed_csv_is_csv() -> None:
    assert Chain(reply(gzip.compress(b"id\n1\n"))).land(**CSV) == [b'{"id":1}']
    assert Chain(reply(zipped(a=b"id\n1\n", b=b"id\n2\n"))).land(**CSV) == [
        b'{"id":1}', b'{"id":2}',
    ]  # fmt: skip


@pytest.mark.parametrize("pack", [gzip.compress, lambda body: zipped(a=body)], ids=["gzip", "zip"])
def test_what_is_too_large_unpacked_is_refused(pack: Any) -> None:
    body = pack(b" " * (2 << 20) + b'{"items": []}')

    with pytest.raises(SourceShapeError, match="more than 1 MB unpacked"):
        Chain(reply(body), max_response_mb=1).land()


@pytest.mark.parametrize(
    "body", [zipped(a=b"x" * 99)[:-30], b"PK\x03\x04 and more"], ids=["cut", "another file"]
)
def test_a_broken_archive_is_refused(body: bytes) -> None:
    with pytest.raises(SourceShapeError, match="a broken zip archive"):
        Chain(reply(body), reply(body)).land()


def test_the_charset_of_the_contract_counts_more_than_that_of_the_answer() -> None:
    body = '{"items": ["größe"]}'.encode()
    answer = reply(body, Content_Type="application/json; charset=ISO-8859-1")

    assert Chain(answer).land() == ['"gr\u00c3\u00b6\u00c3\u009fe"'.encode()]
    assert Chain(answer).land(response={"format": "json", "charset": "utf-8"}) == [
        '"größe"'.encode()
    ]
