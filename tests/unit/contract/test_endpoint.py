"""What an endpoint may say, and what is refused with all its faults at once."""

# ruff: noqa: E501

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lakekit.contract.contract import Contract, load_contract
from lakekit.contract.endpoint import Endpoint
from lakekit.contract.endpoint.paths import Every, path_of, path_steps
from lakekit.contract.endpoint.placeholders import placeholder_faults
from lakekit.errors import InvalidContractError
from tests.unit.contract.people import GOOD, faults


def endpoint_of(text: str) -> Endpoint:
    return load_contract(GOOD.replace("{path: /people}", text)).endpoint


def faults_of(text: str) -> list[str]:
    found = faults(GOOD.replace("{path: /people}", text))
    assert all(each.startswith("endpoint") for each in found)
    return [each.removeprefix("endpoint.").removeprefix("endpoint: ") for each in found]


@pytest.mark.parametrize(
    "text",
    [
        "{path: '/a:b(c)@d,e;f=1/*/$x+y!~%41'}",
        "{path: /größe}",
        "{path: '/{environment}/{run.started_at:date}'}",
        "{path: /p, params: {limit: 100, tag: [a, 1], '$top': '5'}}",
        "{path: /p, headers: {X-V: '{environment}'}}",
        "{path: /p, body: {json: {a: [1, null, true, 1.5, {b: '{run.extraction_time:unix}'}]}}}",
        "{path: /p, body: {form: {a: [x, 2]}}}",
        "{path: /p, body: {graphql: {query: '{ a { b } }', variables: {first: 5}}}}",
        "{path: /p, method: POST}",
        "{path: /p, records: \"$['a b'][*].c[0]\"}",
        "{path: /p, shape: map, map_key: id}",
        "{path: /p, response: {format: csv, delimiter: ';', columns: [id]}}",
        "{path: /p, response: {format: ndjson}, records: '$[*].row'}",
        "{path: /p, response: {format: xml, charset: latin-1}, records: $.r.e}",
        "{path: /p, may_ignore: [$.next, X-Total, $]}",
        "{path: /p, paginator: {type: page_number, total: {header: X-T, counts: records}}}",
        "{path: /p, paginator: {type: cursor, cursor_header: X-N, end_values: [0, false, x, null]}}",
        "{path: /p, paginator: {type: offset, limit: 5, offset_param: $skip, limit_param: $top}}",
        "{path: /p, paginator: {type: next_url, next_path: $.n, end_statuses: [404, 204]}}",
    ],
)
def test_an_endpoint_may_say(text: str) -> None:
    assert str(endpoint_of(text).path).startswith("/")


def test_a_table_of_dropped_files_alone_has_no_path() -> None:
    for text in ("{}", "{extract: changes}", "{extract: changes, paginator: {type: single_page}}"):
        assert endpoint_of(text).path is None
        again = load_contract(GOOD.replace("{path: /people}", text)).model_dump_json(by_alias=True)
        assert Contract.model_validate_json(again).endpoint.path is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{path: p}", "path: must begin with /; it is below the source's base_url"),
        ("{path: '/p/{cursor}', paginator: {type: cursor, cursor_path: $.n}}", "paginator.following: {cursor} may be in following, as the first page has none"),
        ("{path: /p, paginator: {type: cursor, cursor_path: $.n, cursor_param: c, following: {path: '/{cursor}'}}}", "paginator.cursor_param: following has {cursor} instead"),
        ("{path: /p, paginator: {type: cursor, cursor_path: $.n, following: {headers: {Authorization: x}}}}", "paginator.following.headers: Authorization is not for a contract"),
        ("{params: {a: b}}", "path: is missing, and params is about requests; a table of dropped files alone has neither"),
        ("{records: $.items}", "path: is missing, and records is about requests"),
        ("{paginator: {type: link_header}}", "path: is missing, and paginator is about requests"),
        ("{path: '/p?a=1'}", "path: must not have ?; use params"),
        ("{path: '/p#x'}", "path: must not have '#'"),
        ("{path: '/a b'}", "path: must not have a blank; write %20"),
        ("{path: '/a%2'}", "path: a % needs two hexadecimal digits behind it"),
        ("{path: /a/../b}", "path: must not have . or .. between slashes"),
        ("{path: '/{environmnet}'}", "path: {environmnet} is no placeholder; did you mean {environment}?"),
        ("{path: '/{environment:date}'}", "path: {environment} has no format; leave out :date"),
        ("{path: '/{run.started_at:iso8601}'}", "path: {run.started_at:iso8601} has no format that is known: iso, date, unix, unix_ms"),
        ("{path: /p, params: {a: '{watermark}'}}", "incremental: {watermark} is asked for; give the endpoint incremental: {…}, which says where it begins"),
        ("{path: /p, params: {a: ['{x}', '{window.start}']}}", "params.a: {x} is no placeholder"),
        ("{path: /p, params: {v: 1.50}}", "params.v: must be text, but YAML reads it as 1.5; put it in quotes"),
        ("{path: /p, params: {v: yes}}", "params.v: must be text, but YAML reads it as true"),
        ("{path: /p, params: {v: 2026-01-31}}", "params.v: must be text, but YAML reads it as 2026-01-31"),
        ("{path: /p, params: {v: }}", "params.v: must be a text or a whole number"),
        ("{path: /p, headers: {Authorization: x}}", "headers: Authorization is not for a contract; the source's auth signs in"),
        ("{path: /p, headers: {'a b': x}}", "headers: 'a b' is not the name of a header"),
        ("{path: /p, headers: {A: 'ü'}}", "headers: A must have printable ASCII"),
        ("{path: /p, headers: {A: '{x}'}}", "headers.A: {x} is no placeholder"),
        ("{path: /p, method: PUT}", "method: Input should be 'GET' or 'POST'"),
        ("{path: /p, method: GET, body: {json: {}}}", "method: GET has no body; leave method out, or make it POST"),
        ("{path: /p, body: {}}", "body: give exactly one of json, form and graphql"),
        ("{path: /p, body: {json: {}, form: {}}}", "body: give exactly one of json, form and graphql"),
        ("{path: /p, body: {json: {at: 2026-01-31}}}", "body.json: must be JSON, but YAML reads 2026-01-31 as a date; put it in quotes"),
        ("{path: /p, body: {json: {n: .nan}}}", "body.json: nan is not JSON"),
        ("{path: /p, body: {json: {n: ['{x}']}}}", "body.json: {x} is no placeholder"),
        ("{path: /p, records: items}", "records: must begin with $"),
        ("{path: /p, records: $.a b}", "records: ' b' is no step: write .name, ['any name'], [0] or [*]"),
        ("{path: /p, records: $.@x}", "records: '.@x' is no step"),
        ("{path: /p, paginator: {type: next_url, next_path: '$.a[*]'}}", "paginator.next_path: must lead to one value; [*] is for the records alone"),
        ("{path: /p, paginator: {type: next_url, next_path: $}}", "paginator.next_path: must lead to a value in the answer, as $.next does"),
        ("{path: /p, shape: object, records: '$.a[*]'}", "records: with shape: object it must lead to one value, without [*]"),
        ("{path: /p, map_key: id}", "map_key: needs shape: map"),
        ("{path: /p, may_ignore: [$.a b]}", "may_ignore.0: ' b' is no step"),
        ("{path: /p, may_ignore: ['a b']}", "may_ignore.0: String should match"),
        ("{path: /p, paginator: {type: cursor}}", "paginator: cursor needs either cursor_path or cursor_header"),
        ("{path: /p, paginator: {type: cursor, cursor_path: $.a, cursor_header: A}}", "paginator: cursor needs either cursor_path or cursor_header"),
        ("{path: /p, paginator: {type: cursor, cursor_path: $.a, constant: true}}", "paginator.constant: needs total"),
        ("{path: /p, paginator: {type: cursor, cursor_path: $.a, cursor_param: $.a}}", "paginator.cursor_param: $.a is in the request's body; give the endpoint a body"),
        ("{path: /p, body: {form: {}}, paginator: {type: cursor, cursor_path: $.a, cursor_param: $.a.b}}", "paginator.cursor_param: $.a.b is no field of a form; write $.name"),
        ("{path: /p, paginator: {type: page_number, page_param: '$.a[0]'}, body: {json: {}}}", "paginator.page_param: must lead to a field of the request's body by names alone"),
        ("{path: /p, params: {page: 1}, paginator: {type: page_number}}", "params.page: the paginator sends it; see page_param"),
        ("{path: /p, paginator: {type: page_number, has_more: $.a, is_last: $.b}}", "paginator.is_last: give has_more or is_last, not both"),
        ("{path: /p, paginator: {type: page_number, empty_pages: skip}}", "paginator.empty_pages: skip needs has_more, is_last or total"),
        ("{path: /p, paginator: {type: page_number, total: {}}}", "paginator.total: give either path or header"),
        ("{path: /p, paginator: {type: page_number, total: {path: $.a, header: A}}}", "paginator.total: give either path or header"),
        ("{path: /p, paginator: {type: page_number, total: {path: $.a}, total_path: $.b}}", "paginator.total_path: is short for total"),
        ("{path: /p, paginator: {type: offset, limit: 1, total: {path: $.a, counts: pages}}}", "paginator.total.counts: offset counts records"),
        ("{path: /p, paginator: {type: page_number, total: {path: $.a, appears: first_page, changes: allowed}}}", "paginator.total.changes: a total that appears on the first page alone"),
        ("{path: /p, paginator: {type: page_number, end_statuses: [200]}}", "paginator.end_statuses.0: must be 204, or from 400 to 499"),
        ("{path: /p, paginator: {type: page_number, end_statuses: [404, 429]}}", "paginator.end_statuses.1: 429 is never an end"),
        ("{path: /p, paginator: {type: page_number, cursor_path: $.a}}", "paginator.cursor_path: unknown field; it has no meaning here"),
        ("{path: /p, response: {format: csv, delimiter: ab}}", "response.delimiter: String should have at most 1 character"),
        ("{path: /p, response: {format: csv}, records: $.a}", "records: rows of csv have no path; leave it out"),
        ("{path: /p, response: {format: ndjson}, records: $.a}", "records: lines of ndjson are the list $; write $[*].name for a part"),
        ("{path: /p, response: {format: csv}, errors: [$.a]}", "errors: answers of csv have no such path"),
        ("{path: /p, response: {format: csv}, paginator: {type: next_url, next_path: $.a}}", "paginator.next_path: answers of csv have no such path"),
        ("{path: /p, response: {format: json, charset: latin-99}}", "response.charset: the charset 'latin-99' is unknown"),
        ("{path: /p, paginator: {type: cursor, cursor_path: $.a, following: {json: {}}}}", "paginator.following.json: replaces body.json; give the endpoint one"),
        ("{path: /p, response: {format: yaml}}", "response: Input tag 'yaml' found using 'format'"),
    ],
    ids=lambda each: each if each.startswith("{") else "",
)  # fmt: skip
def test_an_endpoint_may_not_say(text: str, fault: str) -> None:
    [found] = faults_of(text)

    assert found.startswith(fault)


def test_all_faults_of_an_endpoint_are_reported_at_once() -> None:
    text = (
        "{path: p, method: GET, params: {a: 1.5, page: 1}, headers: {Host: x}, body: {json: {}}, "
        "records: a, paginator: {type: page_number, total: {}, is_last: $.a, has_more: $.b}, x: 1}"
    )

    assert [each.partition(":")[0] for each in faults_of(text)] == [
        "path", "method", "params.a", "params.page", "headers", "records", "paginator.total",
        "paginator.is_last", "x",
    ]  # fmt: skip


def test_what_did_not_parse_makes_no_second_fault() -> None:
    text = (
        "{path: /p, paginator: {type: cursor, cursor_path: a, cursor_param: $.x}, body: {json: 3}}"
    )

    assert [each.partition(":")[0] for each in faults_of(text)] == [
        "paginator.cursor_path", "body.json",
    ]  # fmt: skip


STEPS = st.text(max_size=6) | st.integers(0, 999_999) | st.just(Every)


@given(st.lists(STEPS))
def test_a_path_is_written_and_read_again(steps: list[Any]) -> None:
    assert path_steps(path_of(tuple(steps))) == tuple(steps)


@given(st.text(alphabet="$.[]'\"\\*019aé- "))
def test_no_path_breaks_it(text: str) -> None:
    try:
        steps = path_steps(text)
    except ValueError as error:
        assert str(error)
    else:
        assert path_steps(path_of(steps)) == steps


@given(st.text(alphabet="{}:.runstaedviomx_ "))
def test_no_text_with_braces_breaks_placeholders(text: str) -> None:
    assert all(isinstance(each, str) for each in placeholder_faults(text))


WORDS = st.sampled_from(
    ["path", "/p", "params", "paginator", "type", "cursor", "cursor_path", "$.a", "$", "offset",
     "limit", "total", "header", "body", "json", "form", "graphql", "response", "format", "csv",
     "records", "may_ignore", "end_statuses", "has_more", "following", "{x}", "page_number"],
)  # fmt: skip
DOCUMENTS = st.recursive(
    WORDS
    | st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.dates()
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=15,
)


@given(st.dictionaries(WORDS, DOCUMENTS, max_size=6))
def test_whatever_is_written_loads_or_is_refused_with_its_place(endpoint: dict[str, Any]) -> None:
    text = GOOD.replace("{path: /people}", yaml.safe_dump({"path": "/p", **endpoint},
                        default_flow_style=True, allow_unicode=True))  # fmt: skip
    try:
        load_contract(text, name="c.yaml")
    except InvalidContractError as error:
        assert all(line.startswith("c.yaml:") for line in str(error).splitlines())
