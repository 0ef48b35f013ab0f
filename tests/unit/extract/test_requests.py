"""What is asked: methods, bodies, headers, parameters, paths, placeholders and positions."""

import json
from typing import Any
from urllib.parse import parse_qsl

import pytest

from lakekit.contract.endpoint import Endpoint
from lakekit.extract import SourceRequest, values_of_steps
from lakekit.extract.requests import Requests
from tests.unit.extract.chain import Chain
from tests.unit.extract.conftest import VALUES


def first(**endpoint: Any) -> SourceRequest:
    chain = Chain({"items": []})
    chain.land(**endpoint)
    return chain.asked[0]


def all_asked(*answers: Any, **endpoint: Any) -> list[SourceRequest]:
    chain = Chain(*answers)
    chain.land(**endpoint)
    return chain.asked


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("/items", "/items"),
        ("/people/~:(id,name)@v1;x=1/$all", "/people/~:(id,name)@v1;x=1/$all"),
        ("/größe/a%20b", "/gr%C3%B6%C3%9Fe/a%20b"),
        ("/{environment}/{run.extraction_time:date}", "/dev/2026-01-31"),
        ("/{{id}}", "/%7Bid%7D"),
    ],
)
def test_a_path_may_have_any_characters_and_placeholders(path: str, url: str) -> None:
    assert first(path=path).url == f"https://api.example{url}"


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("{run.extraction_time}", "2026-01-31T12:30:15Z"),
        ("{run.started_at:iso}", "2026-01-31T13:30:15Z"),
        ("{run.extraction_time:date}", "2026-01-31"),
        ("{run.extraction_time:unix}", "1769862615"),
        ("{run.extraction_time:unix_ms}", "1769862615250"),
        ("updated<{run.extraction_time} and {environment}", "updated<2026-01-31T12:30:15Z and dev"),
        ('{"a": {"b": [1]}}', '{"a": {"b": [1]}}'),
        ("{{environment}}", "{environment}"),
        ("{}", "{}"),
    ],
)
def test_placeholders_are_filled_wherever_a_text_is_sent(text: str, sent: str) -> None:
    assert dict(first(params={"q": text}).params)["q"] == sent
    assert first(headers={"X-Q": text}).headers["X-Q"] == sent
    in_json = int(sent) if ":unix" in text else sent
    assert json.loads(first(body={"json": {"a": [{"q": text}]}}).body or b"") == {
        "a": [{"q": in_json}]
    }
    assert parse_qsl((first(body={"form": {"q": text}}).body or b"").decode()) == [("q", sent)]
    graphql = first(body={"graphql": {"query": "{x}", "variables": {"q": text}}})
    assert json.loads(graphql.body or b"") == {"query": "{x}", "variables": {"q": in_json}}


@pytest.mark.parametrize(
    ("kind", "value", "sent"),
    [
        ("number", "12345678901234567890.10", b"12345678901234567890.10"),
        ("number", "007", b'"007"'),
        ("text", "7", b'"7"'),
        ("unix", "2026-01-31T00:00:00Z", b"1769817600"),
        ("timestamp", "2026-01-31T00:00:00Z", b'"2026-01-31T00:00:00Z"'),
    ],
)
def test_a_watermark_is_in_json_what_it_is(kind: str, value: str, sent: bytes) -> None:
    given = {"watermark": "$.at", "type": kind, "start": value}
    body = {"json": {"a": "{watermark}", "b": "x{watermark}"}}
    endpoint = Endpoint.model_validate(
        {"path": "/p", "body": body, "extract": "changes", "incremental": given}
    )
    [step] = values_of_steps(endpoint.incremental, value, VALUES)

    asked = Requests("https://api.example", endpoint, step).at("").body

    assert asked == b'{"a":%b,"b":"x%b"}' % (sent, sent.strip(b'"'))


def test_parameters_repeat_in_their_order_and_numbers_need_no_quotes() -> None:
    request = first(params={"limit": 100, "tag": ["b", "a", 1], "q": ""})

    assert request.params == (("limit", "100"), ("tag", "b"), ("tag", "a"), ("tag", "1"), ("q", ""))


def test_a_body_makes_it_a_post_with_its_type() -> None:
    request = first(body={"json": {"size": 10, "on": True, "at": None, "x": 1.5}})

    assert request.method == "POST"
    assert request.body == b'{"size":10,"on":true,"at":null,"x":1.5}'
    assert request.headers == {"Accept": "application/json", "Content-Type": "application/json"}
    assert first().method == "GET"
    assert first(method="POST").body is None


def test_headers_of_ones_own_replace_the_usual_ones() -> None:
    headers = {"accept": "application/vnd.api+json", "X-Version": "2"}

    assert first(headers=headers).headers == headers


def test_a_form_is_encoded_and_repeats() -> None:
    request = first(body={"form": {"a": ["1", "ü &"], "b": 2}})

    assert request.body == b"a=1&a=%C3%BC+%26&b=2"
    assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"


def test_positions_go_into_the_body_where_a_path_says() -> None:
    asked = all_asked(
        {"items": [1], "n": 3}, {"items": [2], "n": 3}, {"items": [3], "n": 3},
        body={"json": {"page": {"size": 1}}},
        paginator={
            "type": "offset", "limit": 1, "total_path": "$.n",
            "offset_param": "$.page.from", "limit_param": "$.page['max items']",
        },
    )  # fmt: skip

    assert [json.loads(each.body or b"") for each in asked] == [
        {"page": {"size": 1, "from": n, "max items": 1}} for n in (0, 1, 2)
    ]


def test_a_position_in_a_form_replaces_its_field() -> None:
    asked = all_asked(
        {"items": [1], "next": "b c"}, {"items": [2]},
        body={"form": {"cursor": "*", "size": 1}},
        paginator={"type": "cursor", "cursor_path": "$.next", "cursor_param": "$.cursor"},
    )  # fmt: skip

    assert [each.body for each in asked] == [b"cursor=%2A&size=1", b"size=1&cursor=b+c"]


def test_the_variables_of_a_query_carry_its_cursor() -> None:
    answers = [
        {"data": {"all": {"nodes": [1], "pageInfo": {"endCursor": "a", "hasNextPage": True}}}},
        {"data": {"all": {"nodes": [2], "pageInfo": {"endCursor": "b", "hasNextPage": False}}}},
    ]
    asked = all_asked(
        *answers,
        body={"graphql": {"query": "query($after: String) {…}", "variables": {"first": 1}}},
        records="$.data.all.nodes",
        paginator={
            "type": "cursor", "cursor_path": "$.data.all.pageInfo.endCursor",
            "cursor_param": "$.variables.after", "has_more": "$.data.all.pageInfo.hasNextPage",
        },
    )  # fmt: skip

    assert [json.loads(each.body or b"")["variables"] for each in asked] == [
        {"first": 1}, {"first": 1, "after": "a"},
    ]  # fmt: skip


def test_a_scroll_goes_on_elsewhere() -> None:
    answers = [
        {"_scroll_id": "s", "hits": {"total": {"value": 2}, "hits": [{"_source": {"id": n}}]}}
        for n in (1, 2)
    ]
    chain = Chain(*answers, answers[0] | {"hits": {"total": {"value": 2}, "hits": []}})

    landed = chain.land(
        path="/shop/_search", params={"scroll": "1m"}, body={"json": {"size": 1}},
        records="$.hits.hits[*]._source",
        paginator={
            "type": "cursor", "cursor_path": "$._scroll_id", "cursor_param": "$.scroll_id",
            "constant": True, "total": {"path": "$.hits.total.value"},
            "following": {"path": "/_search/scroll", "params": {}, "json": {"scroll": "1m"}},
        },
    )  # fmt: skip

    assert landed == [b'{"id": 1}', b'{"id": 2}']
    assert [each.url.partition("example")[2] for each in chain.asked] == [
        "/shop/_search", "/_search/scroll", "/_search/scroll",
    ]  # fmt: skip
    assert [each.params for each in chain.asked] == [(("scroll", "1m"),), (), ()]
    assert [each.body for each in chain.asked][1:] == [b'{"scroll":"1m","scroll_id":"s"}'] * 2


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ("/items?p=2", "https://api.example/items?p=2&v=1&v=2"),
        ("?p=2&v=3", "https://api.example/items?p=2&v=3"),
        ("https://api.example/items", "https://api.example/items?v=1&v=2"),
        ("http://api.example/items?p=2", "https://api.example/items?p=2&v=1&v=2"),
        ("http://api.example:80/items?p=2", "https://api.example/items?p=2&v=1&v=2"),
        ("http://other.example/items", "http://other.example/items?v=1&v=2"),
        ("http://api.example:8080/items", "http://api.example:8080/items?v=1&v=2"),
    ],
)
def test_a_next_address_keeps_parameters_and_is_of_the_scheme_of_the_source(
    link: str, url: str
) -> None:
    paginator = {"type": "next_url", "next_path": "$.next", "keep_params": ["v", "absent"]}

    asked = all_asked(
        {"items": [1], "next": link}, {"items": [2]}, params={"v": [1, 2]}, paginator=paginator
    )

    assert asked[1].url == url
    assert asked[1].params == ()


def test_a_link_is_asked_with_the_same_method_body_and_headers() -> None:
    asked = all_asked(
        {"items": [1], "next": "/more"}, {"items": [2]},
        body={"json": {"a": 1}}, headers={"X-Version": "2"},
        paginator={"type": "next_url", "next_path": "$.next"},
    )  # fmt: skip

    assert (asked[1].method, asked[1].body) == ("POST", b'{"a":1}')
    assert asked[1].headers == asked[0].headers
