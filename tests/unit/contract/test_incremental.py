"""What an incremental endpoint may say, and which values of records are a watermark."""

# ruff: noqa: E501

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakekit.contract.endpoint.incremental import Incremental, text_of, value_of
from tests.unit.contract.test_endpoint import endpoint_of, faults_of

SINCE = "extract: incremental, params: {since: '{watermark}'}"
WINDOW = "extract: changes, params: {a: '{window.start}', b: '{window.end:unix}'}"


@pytest.mark.parametrize(
    "text",
    [
        f"{{path: /p, {SINCE}, incremental: {{watermark: $.at, start: 2026-01-01}}}}",
        f"{{path: /p, {SINCE}, incremental: {{watermark: $.at, type: date, start: 2026-01-01, look_back_seconds: 86400}}}}",
        f"{{path: /p, {SINCE}, incremental: {{watermark: '$.a[''b c'']', type: number, start: 0}}}}",
        f"{{path: /p, {SINCE}, incremental: {{watermark: $.id, type: text, start: a}}}}",
        f"{{path: /p, {WINDOW}, incremental: {{window: {{days: 7}}, start: 2026-01-01T06:00:00+02:00}}}}",
        f"{{path: /p, {WINDOW}, incremental: {{window: {{hours: 1}}, start: '2026-01-01T06:00:00', look_back_seconds: 60}}}}",
        "{path: /p, extract: changes, body: {graphql: {query: q, variables: {a: ['{watermark:date}']}}}, incremental: {watermark: $.a, start: 2026-01-01}}",
        "{path: '/p/{watermark:unix_ms}', extract: changes, incremental: {watermark: $.a, type: unix, start: 2026-01-01}}",
    ],
)  # fmt: skip
def test_an_incremental_endpoint_may_say(text: str) -> None:
    endpoint = endpoint_of(text)

    assert endpoint.incremental
    assert type(endpoint).model_validate_json(endpoint.model_dump_json(by_alias=True)) == endpoint


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{path: /p, params: {a: '{window.start}'}}", "incremental: {window.start} is asked for; give the endpoint incremental: {…}"),
        (f"{{path: /p, {SINCE.replace('incremental', 'full')}, incremental: {{watermark: $.a, start: 2026-01-01}}}}", "incremental: a full extract asks for everything; set extract: incremental or changes"),
        (f"{{path: /p, {SINCE}, incremental: {{watermark: $.a}}}}", "incremental.start: Field required"),
        (f"{{path: /p, {SINCE}, incremental: {{watermark: '$.a[*]', start: 2026-01-01}}}}", "incremental.watermark: must lead to one value"),
        (f"{{path: /p, {SINCE}, incremental: {{watermark: '$.a[0]', start: 2026-01-01}}}}", "incremental.watermark: must lead to a field of a record by names alone"),
        (f"{{path: /p, {SINCE}, incremental: {{watermark: at, start: 2026-01-01}}}}", "incremental.watermark: must begin with $"),
        (f"{{path: /p, {SINCE}, incremental: {{watermark: $.a, start: yesterday}}}}", "incremental.start: must be a time like 2026-01-01T00:00:00Z"),
        (f"{{path: /p, {SINCE}, incremental: {{watermark: $.a, type: unix, start: soon}}}}", "incremental.start: must be a time like 2026-01-01T00:00:00Z"),
        (f"{{path: /p, {SINCE}, incremental: {{watermark: $.a, type: number, start: x}}}}", "incremental.start: must be a number"),
        (f"{{path: /p, {SINCE}, incremental: {{watermark: $.a, type: number, start: 1.50}}}}", "incremental.start: must be text, but YAML reads it as 1.5"),
        (f"{{path: /p, {SINCE}, incremental: {{watermark: $.a, type: text, start: ''}}}}", "incremental.start: must be a text"),
        (f"{{path: /p, {SINCE}, incremental: {{watermark: $.a, type: epoch, start: 1}}}}", "incremental.type: Input should be"),
        (f"{{path: /p, {SINCE}, incremental: {{watermark: $.a, type: number, start: 1, look_back_seconds: 5}}}}", "incremental.look_back_seconds: a number is no time; leave it out"),
        ("{path: /p, extract: changes, params: {a: '{watermark:date}'}, incremental: {watermark: $.a, type: number, start: 1}}", "incremental.type: a number has no format; write {watermark}"),
        ("{path: /p, extract: changes, params: {a: '{watermark:date}', b: '{watermark}'}, incremental: {watermark: $.a, type: number, start: 1}}", "incremental.type: a number has no format; write {watermark}"),
        ("{path: /p, extract: changes, params: {a: '{{watermark}}'}, incremental: {watermark: $.a, start: 2026-01-01}}", "incremental.watermark: the request lacks {watermark}"),
        ("{path: /p, extract: changes, headers: {X-Since: '{watermark}'}, incremental: {watermark: $.a, type: text, start: a}}", "incremental.type: a text may have signs that no path or header has; send it in params"),
        ("{path: '/p/{watermark}', extract: changes, incremental: {watermark: $.a, type: text, start: a}}", "incremental.type: a text may have signs"),
        ("{path: /p, body: {json: {}}, export: {id_path: $.id, status_path: '/e/{export.id}/{window.start}', state_path: $.s, done: [ok], files_path: $.f}}", "incremental: {window.start} is asked for; give the endpoint incremental: {…}"),
        (f"{{path: /p, {SINCE}, incremental: {{start: 2026-01-01}}}}", "incremental: give either watermark or window"),
        (f"{{path: /p, {WINDOW}, incremental: {{window: {{}}, start: 2026-01-01}}}}", "incremental.window: give either days or hours"),
        (f"{{path: /p, {WINDOW}, incremental: {{window: {{days: 0}}, start: 2026-01-01}}}}", "incremental.window.days: Input should be greater than or equal to 1"),
        (f"{{path: /p, {WINDOW}, incremental: {{window: {{days: 1}}, type: date, start: 2026-01-01}}}}", "incremental.type: is that of a watermark"),
        ("{path: /p, extract: changes, params: {a: '{window.start}'}, incremental: {window: {days: 1}, start: 2026-01-01}}", "incremental.window: the request lacks {window.end}; each window is asked for by both its ends"),
        (f"{{path: '/{{watermark}}', {WINDOW}, incremental: {{window: {{days: 1}}, start: 2026-01-01}}}}", "incremental.window: {watermark} is of endpoints with a watermark"),
        (f"{{path: '/{{window.end}}', {SINCE}, incremental: {{watermark: $.a, start: 2026-01-01}}}}", "incremental.watermark: {window.end} is of endpoints with a window"),
    ],
    ids=lambda each: each if each.startswith("{") else "",
)  # fmt: skip
def test_an_incremental_endpoint_may_not_say(text: str, fault: str) -> None:
    [found] = faults_of(text)

    assert found.startswith(fault)


def test_all_faults_are_found_at_once() -> None:
    found = faults_of(
        "{path: /p, params: {a: '{window.end}'}, incremental: "
        "{watermark: $.a, type: text, window: {}, start: [], look_back_seconds: 5}}"
    )

    assert len(found) == 6, found


@pytest.mark.parametrize(
    ("kind", "found", "kept"),
    [
        ("timestamp", '"2026-01-31T08:30:00.1234567+02:00"', "2026-01-31T06:30:00.123456Z"),
        ("timestamp", '"2026-01-31T06:30:00"', "2026-01-31T06:30:00Z"),
        ("timestamp", '"2026-01-31"', "2026-01-31T00:00:00Z"),
        ("timestamp", '"0001-01-01T00:00:00Z"', "0001-01-01T00:00:00Z"),
        ("timestamp", '"0001-01-01T00:00:00+02:00"', None),
        ("timestamp", '"31.01.2026"', None),
        ("timestamp", "1769841000", None),
        ("timestamp", "null", None),
        ("date", '"2026-01-31"', "2026-01-31T00:00:00Z"),
        ("date", '"2026-01-31T06:30:00Z"', None),
        ("unix", "1769841000", "2026-01-31T06:30:00Z"),
        ("unix", '"1769841000.000200"', "2026-01-31T06:30:00.000200Z"),
        ("unix", "1769841000.9999999999999999999999999999", "2026-01-31T06:30:00.999999Z"),
        ("unix", "-1.5", "1969-12-31T23:59:58.500000Z"),
        ("unix", "1e300", None),
        ("unix", '"2026"', "1970-01-01T00:33:46Z"),
        ("unix", "true", None),
        ("unix_ms", "1769841000250", "2026-01-31T06:30:00.250000Z"),
        ("unix_ms", "1769841000250.7", "2026-01-31T06:30:00.250700Z"),
        ("number", "12345678901234567890.10", "12345678901234567890.10"),
        ("number", '"42"', "42"),
        ("number", '"4_2"', None),
        ("number", '"NaN"', None),
        ("number", "1e9999999999", None),
        ("number", "9" * 1001, None),
        ("text", '"é\\u00e9 1"', "éé 1"),
        ("text", '"a\\r\\nb"', None),
        ("text", '""', None),
        ("text", "5", None),
        ("text", '"\\ud800"', None),
        ("text", json.dumps("x" * 1001), None),
    ],
)  # fmt: skip
def test_a_value_of_a_record_is_kept_exactly_or_not_at_all(
    kind: str, found: str, kept: str | None
) -> None:
    assert text_of(kind, found.encode()) == kept  # type: ignore[arg-type]


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_times_keep_their_order(one: datetime, other: datetime) -> None:
    kept = [text_of("timestamp", json.dumps(each.isoformat()).encode()) for each in (one, other)]

    assert [value_of("timestamp", str(each)) for each in kept] == [one, other]


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_numbers_are_compared_without_loss(number: Decimal) -> None:
    text = str(number)

    assert text_of("number", text.encode()) == text
    assert value_of("number", text) == number


@given(st.binary(max_size=30) | st.text(max_size=30).map(str.encode))
def test_no_value_breaks_it(found: bytes) -> None:
    for kind in ("timestamp", "date", "unix", "unix_ms", "number", "text"):
        kept = text_of(kind, found)  # type: ignore[arg-type]
        assert kept is None or value_of(kind, kept) is not None  # type: ignore[arg-type]


def test_windows_have_a_length() -> None:
    found = Incremental.model_validate({"window": {"hours": 6}, "start": "2026-01-01"})

    assert found.window
    assert found.window.length == timedelta(hours=6)
    assert (found.by, found.begin) == ("window", "2026-01-01T00:00:00Z")
