"""Whatever a source answers, an extraction ends or fails with an error of Lakekit."""

import gzip
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lakekit.errors import LakekitError
from lakekit.extract.requests import as_text
from tests.unit.extract.chain import Chain, reply

COLUMNS = {"id": "bigint", "name": "string", "tags": "array<struct<a: int>>"}
PAGINATORS: list[dict[str, Any]] = [
    {"type": "single_page"},
    {"type": "page_number", "total": {"path": "$.total", "changes": "allowed"}},
    {"type": "page_number", "has_more": "$.more", "empty_pages": "skip"},
    {"type": "offset", "limit": 2, "overlap": 1},
    {"type": "cursor", "cursor_path": "$.next", "end_values": [0]},
    {"type": "cursor", "cursor_header": "X-Next", "total": {"header": "X-Total"}},
    {"type": "keyset", "key_path": "$.id", "key_param": "after"},
    {"type": "next_url", "next_path": "$.next", "keep_params": ["a"]},
    {"type": "link_header"},
]
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats()
    | st.text(max_size=5) | st.sampled_from(["/items?p=2", "http://[", "//x", "500", "true"])
)  # fmt: skip
NAMES = st.sampled_from(["items", "next", "total", "more", "id", "meta", "links", "rel", "errors"])
JSONS = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
TEXTS = JSONS.map(lambda value: json.dumps(value).encode())
CUT = st.tuples(TEXTS, st.integers(0, 60)).map(lambda each: each[0][: each[1]])
MARKS = st.text(alphabet="{}[]<>,:;\"'\\ \n\r\tid1eN-.&!é", max_size=40).map(str.encode)
BODIES = TEXTS | CUT | MARKS | st.binary(max_size=40) | TEXTS.map(gzip.compress)
HEADERS = st.dictionaries(
    st.sampled_from(["Link", "X_Next", "X_Total", "Content_Range", "Content_Type", "X_Pagination"]),
    st.text(alphabet='<>;=/-*,"{}:rel next0129utf', max_size=20)
    | st.sampled_from(['</items?p=2>; rel="next"', "a/b; charset=utf-16", "a; charset=hex", "2"]),
)
ANSWERS = st.lists(
    st.builds(
        lambda body, status, headers: reply(body, status, **headers),
        BODIES, st.sampled_from([200, 200, 200, 201, 202, 204, 206, 207, 404]), HEADERS,
    ),
    min_size=1, max_size=4,
)  # fmt: skip
ENDPOINTS = st.fixed_dictionaries(
    {"records": st.sampled_from(["$", "$.items", "$.items[*].id", "$[*]", "$[0]"])},
    optional={
        "absent_records": st.just("empty"),
        "shape": st.sampled_from(["list", "map", "object"]),
        "errors": st.just(["$.errors"]),
    },
)


@settings(max_examples=150)
@given(ENDPOINTS, st.sampled_from(PAGINATORS), ANSWERS)
def test_json_of_any_kind_breaks_nothing(
    endpoint: dict[str, Any], paginator: dict[str, Any], answers: list[Any]
) -> None:
    endpoint = {**endpoint, "paginator": paginator}
    if endpoint.get("shape", "list") != "list" and "[*]" in endpoint["records"]:
        endpoint["records"] = "$"
    land(Chain(*answers), **endpoint)


@settings(max_examples=100)
@given(
    st.sampled_from(["ndjson", "csv", "xml"]),
    st.sampled_from([{"type": "single_page"}, {"type": "link_header"}, {"type": "page_number"}]),
    ANSWERS,
)
def test_answers_of_other_formats_break_nothing(
    form: str, paginator: dict[str, Any], answers: list[Any]
) -> None:
    records = {"ndjson": "$[*].id", "csv": "$", "xml": "$.r.e"}[form]
    land(Chain(*answers), records=records, response={"format": form}, paginator=paginator)


@given(JSONS)
def test_a_cursor_is_sent_as_it_was_received(cursor: Any) -> None:
    text = json.dumps(cursor)
    chain = Chain(reply(f'{{"items": [1], "next": {text}}}'.encode()), {"items": [2]})

    landed = land(chain, records="$.items", paginator={"type": "cursor", "cursor_path": "$.next"})

    if landed == [b"1", b"2"]:
        sent = dict(chain.asked[1].params)["cursor"]
        assert sent == (cursor if isinstance(cursor, str) else text)
    else:
        assert cursor in (None, "") or "NaN" in text or "Infinity" in text


def land(chain: Chain, **endpoint: Any) -> list[bytes]:
    """Land what can be; the answers may be fewer than are asked for."""
    try:
        return chain.land(COLUMNS, **endpoint)
    except LakekitError as error:
        assert str(error)
    except IndexError as error:
        assert "pop from empty list" in str(error)
    return []


def test_a_number_is_sent_without_quotes() -> None:
    assert as_text(7) == "7"
