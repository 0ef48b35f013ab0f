"""How pages end and are counted, where the source has a way of its own."""

import json
from typing import Any

import pytest

from lakekit.errors import SourceRejectedError, SourceShapeError, SourceUnavailableError
from tests.unit.extract.chain import Chain, reply


def items(*ids: int, **fields: Any) -> dict[str, Any]:
    return {"items": [{"id": each} for each in ids], **fields}


def ids(landed: list[bytes]) -> list[int]:
    return [json.loads(each)["id"] for each in landed]


def cursor(**more: Any) -> dict[str, Any]:
    return {"type": "cursor", "cursor_path": "$.next", **more}


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (b"0", "0"), (b"false", "false"), (b"-1", "-1"), (b'"0"', "0"), (b"1.50", "1.50"),
        (b"12345678901234567890123", "12345678901234567890123"), (b"1e400", "1e400"),
        (b'"a\\u0020\\"b"', 'a "b'), (b'{"k": 1.50,\n"b":[]}', '{"k": 1.50,\n"b":[]}'),
        (b"[1, 2]", "[1, 2]"), (b"true", "true"),
    ],
)  # fmt: skip
def test_a_cursor_of_any_type_is_sent_back_as_it_is(value: bytes, sent: str) -> None:
    chain = Chain(reply(b'{"items": [{"id": 1}], "next": ' + value + b"}"), items(2))

    assert ids(chain.land(paginator=cursor())) == [1, 2]
    assert chain.asked[1].params == (("cursor", sent),)


@pytest.mark.parametrize("value", [None, "", False, 0, -1, "end", "absent"])
def test_a_cursor_ends_where_it_is_null_absent_empty_or_as_declared(value: Any) -> None:
    fields = {} if value == "absent" else {"next": value}
    chain = Chain(items(1, **fields))

    assert ids(chain.land(paginator=cursor(end_values=[False, 0, -1, "end"]))) == [1]


def test_a_declared_end_has_its_type() -> None:
    chain = Chain(items(1, next=False), items(2, next=1), items(3))

    assert ids(chain.land(paginator=cursor(end_values=[0, "1", True]))) == [1, 2, 3]


@pytest.mark.parametrize("value", ["", "0", "end"])
def test_a_cursor_in_a_header_ends_as_declared(value: str) -> None:
    paginator = {"type": "cursor", "cursor_header": "x-next", "end_values": [0, "end"]}
    chain = Chain(reply(items(1), X_Next="b"), reply(items(2), X_Next=value))

    assert ids(chain.land(paginator=paginator)) == [1, 2]
    assert chain.asked[1].params == (("cursor", "b"),)


@pytest.mark.parametrize(
    "paginator",
    [cursor(), {"type": "page_number"}, {"type": "offset", "limit": 1},
     {"type": "keyset", "key_path": "$.id", "key_param": "after"}],
)  # fmt: skip
@pytest.mark.parametrize("last", [False, "false", 0, "No"])
def test_a_flag_decides_over_anything_else(paginator: dict[str, Any], last: Any) -> None:
    is_cursor = paginator["type"] == "cursor"
    first, second = ({"next": "b"}, {"next": "c"}) if is_cursor else ({}, {})
    chain = Chain(items(1, more=True, **first), items(2, more=last, **second))

    assert ids(chain.land(paginator={**paginator, "has_more": "$.more"})) == [1, 2]


@pytest.mark.parametrize("flag", [{"is_last": "$.last"}, {"has_more": "$.more"}])
def test_a_flag_that_is_absent_or_odd_is_refused(flag: dict[str, Any]) -> None:
    for fields in ({}, {"last": None, "more": None}, {"last": "perhaps", "more": 7}):
        with pytest.raises(SourceShapeError, match="is neither true nor false"):
            Chain(items(1, **fields)).land(paginator={"type": "page_number", **flag})


def test_a_flag_without_a_cursor_is_refused() -> None:
    with pytest.raises(SourceShapeError, match=r"\$\.more says that there is more, but not where"):
        Chain(items(1, more=True)).land(paginator=cursor(has_more="$.more"))


def test_a_flag_that_ends_too_early_is_held_against_the_total() -> None:
    paginator = cursor(has_more="$.more", total={"path": "$.total"})

    with pytest.raises(SourceShapeError, match="1 records came, but there should be 2"):
        Chain(items(1, more=False, total=2)).land(paginator=paginator)


@pytest.mark.parametrize("status", [404, 400, 204])
@pytest.mark.parametrize("paginator", [{"type": "page_number"}, cursor()])
def test_a_status_ends_the_pages_where_declared(paginator: dict[str, Any], status: int) -> None:
    chain = Chain(items(1, next="b"), reply(b"none", status))

    landed = chain.land(paginator={**paginator, "end_statuses": [status]}, may_ignore=["$.next"])

    assert ids(landed) == [1]
    assert chain.asked[0].accept_statuses == ({status} if status != 204 else set())


def test_a_status_does_not_end_what_has_not_begun() -> None:
    """A path that is wrong is answered 404 too, and would look like a source without records."""
    paginator = {"type": "page_number", "end_statuses": [404, 204]}

    with pytest.raises(SourceRejectedError, match="the first request is answered 404"):
        Chain(reply(b"", 404)).land(paginator=paginator)
    assert Chain(reply(b"", 204)).land(paginator=paginator) == []


def test_a_status_does_not_end_pages_that_say_there_is_more() -> None:
    paginator = {"type": "page_number", "end_statuses": [404]}

    with pytest.raises(SourceShapeError, match=r"\$\.hasNext is true"):
        Chain(items(1, hasNext=True), reply(b"", 404)).land(paginator=paginator)
    with pytest.raises(SourceShapeError, match="1 records came, but there should be 2"):
        Chain(items(1, total=2), reply(b"", 404)).land(
            paginator={**paginator, "total": {"path": "$.total", "counts": "records"}}
        )


def test_the_signs_before_a_status_are_kept_over_a_pause() -> None:
    paginator = {"type": "page_number", "end_statuses": [404]}
    page = next(Chain(items(1, hasNext=True)).pages(paginator=paginator))

    with pytest.raises(SourceShapeError, match=r"\$\.hasNext is true"):
        list(Chain(reply(b"", 404)).pages(paginator=paginator, resume=page.resume))


@pytest.mark.parametrize(
    "paginator",
    [{"type": "page_number", "total_path": "$.n"},
     {"type": "page_number", "has_more": "$.more"},
     {"type": "offset", "limit": 1, "has_more": "$.more"}],
)  # fmt: skip
def test_goes_on_after_an_empty_page_where_declared(paginator: dict[str, Any]) -> None:
    answers = [items(1, n=3, more=True), items(n=3, more=True), items(3, n=3, more=False)]

    assert ids(Chain(*answers).land(paginator={**paginator, "empty_pages": "skip"})) == [1, 3]


def test_an_offset_skips_an_empty_page_by_its_limit() -> None:
    chain = Chain(items(1, more=True), items(more=True), items(3, more=False))

    chain.land(
        paginator={"type": "offset", "limit": 10, "has_more": "$.more", "empty_pages": "skip"}
    )

    assert [dict(each.params)["offset"] for each in chain.asked] == ["0", "1", "11"]


@pytest.mark.parametrize("total", [3, "3", 3.0, " 3 "])
def test_a_total_is_a_number_or_a_text(total: Any) -> None:
    answers = [items(n, total=total) for n in (1, 2, 3)]
    paginator = {"type": "page_number", "total": {"path": "$.total", "counts": "records"}}

    assert ids(Chain(*answers).land(paginator=paginator)) == [1, 2, 3]


@pytest.mark.parametrize("total", [None, -1, 2.5, True, "many", "1e3", [3], {}])
def test_what_is_no_count_is_refused(total: Any) -> None:
    with pytest.raises(SourceShapeError, match=r"\$\.total is not a count"):
        Chain(items(1, total=total)).land(
            paginator={"type": "offset", "limit": 1, "total_path": "$.total"}
        )


@pytest.mark.parametrize(
    "paginator", [{"type": "page_number"}, {"type": "offset", "limit": 1}, cursor()]
)
def test_a_total_may_be_on_the_first_page_alone(paginator: dict[str, Any]) -> None:
    total = {"path": "$.total", "counts": "records", "appears": "first_page"}
    first, last = items(1, total=2, next="b"), items(2)

    assert ids(Chain(first, last).land(paginator={**paginator, "total": total})) == [1, 2]
    with pytest.raises(SourceShapeError, match="but there should be 2"):
        Chain(first, items()).land(paginator={**paginator, "total": total})


def test_a_total_may_change_where_declared() -> None:
    allowed = {"path": "$.total", "counts": "records", "changes": "allowed"}
    answers = [items(1, total=2), items(2, total=3), items(3, total=3)]
    page_number = {"type": "page_number", "total": allowed}

    assert ids(Chain(*answers).land(paginator=page_number)) == [1, 2, 3]
    with pytest.raises(SourceShapeError, match=r"went from 2 to 3 .* total: \{changes: allowed\}"):
        Chain(*answers).land(paginator={**page_number, "total": {**allowed, "changes": "refused"}})
    shrinking = [items(1, 2, total=3), items(3, total=2)]
    assert ids(Chain(*shrinking).land(paginator=page_number)) == [1, 2, 3]
    with pytest.raises(SourceShapeError, match="is empty after 1 records, but there should be 3"):
        Chain(items(1, total=2), items(total=3)).land(paginator=page_number)


OVERLAPPING = {
    "type": "offset", "limit": 3, "overlap": 1,
    "total": {"path": "$.total", "changes": "allowed"},
}  # fmt: skip


def test_an_overlap_shows_that_no_record_moved() -> None:
    chain = Chain(items(1, 2, 3, total=5), items(3, 4, 5, total=5))

    assert ids(chain.land(paginator=OVERLAPPING)) == [1, 2, 3, 3, 4, 5]
    assert [dict(each.params)["offset"] for each in chain.asked] == ["0", "2"]


def test_an_overlap_is_of_keys_not_of_texts() -> None:
    second = {"items": [{"name": "new", "id": 3}, {"id": 4}], "total": 4}

    assert ids(Chain(items(1, 2, 3, total=4), second).land(paginator=OVERLAPPING)) == [
        1,
        2,
        3,
        3,
        4,
    ]


def test_records_that_moved_over_a_page_are_missed_and_noticed() -> None:
    """Record 2 was deleted meanwhile: 4 moved to where 3 was, and would be left out."""
    moved = items(4, 5, 6, total=5)

    with pytest.raises(SourceShapeError, match="records moved while they were read"):
        Chain(items(1, 2, 3, total=6), moved).land(paginator=OVERLAPPING)
    plain = {**OVERLAPPING, "overlap": 0}
    assert ids(Chain(items(1, 2, 3, total=6), items(5, 6, total=5)).land(paginator=plain))


def test_records_that_were_added_in_front_come_again() -> None:
    chain = Chain(items(1, 2, 3, total=4), items(2, 3, 4, total=5))

    assert ids(chain.land(paginator=OVERLAPPING)) == [1, 2, 3, 2, 3, 4]


def test_an_overlap_ends_where_nothing_is_new() -> None:
    chain = Chain(items(1, 2, 3), items(3, 4), items(4))

    assert ids(chain.land(paginator={"type": "offset", "limit": 3, "overlap": 1})) == [
        1,
        2,
        3,
        3,
        4,
        4,
    ]


@pytest.mark.parametrize(
    ("record", "message"),
    [({"name": "x"}, "has no"), ({"id": None}, "has no"), ({"id": ""}, "has no")],
)
def test_a_keyset_needs_the_key_of_the_last_record(record: Any, message: str) -> None:
    with pytest.raises(SourceShapeError, match=f"the last record of page 1 {message}"):
        Chain({"items": [record]}).land(
            paginator={"type": "keyset", "key_path": "$.id", "key_param": "after"}
        )


def test_a_keyset_that_asks_for_the_same_again_is_noticed() -> None:
    """Where the source takes `since` as inclusive, the last record comes for ever."""
    chain = Chain(items(1, 2), items(2), items(2))

    with pytest.raises(SourceShapeError, match="page 3 repeats"):
        chain.land(paginator={"type": "keyset", "key_path": "$.id", "key_param": "since"})


def test_a_page_that_comes_again_later_is_noticed_also_by_another_call() -> None:
    answers = [items(each, next=f"c{each}-{at}") for at, each in enumerate([1, 2, 3, 4, 5, 3])]
    chain = Chain(*answers)
    pages = chain.pages(paginator=cursor())
    resume = [next(pages).resume for _ in range(5)][-1]

    with pytest.raises(SourceShapeError, match="page 6 repeats"):
        [*chain.pages(paginator=cursor(), resume=json.loads(json.dumps(resume)))]


def test_what_is_kept_of_pages_is_bounded() -> None:
    answers = [items(each, next=each) for each in range(1, 1200)]
    chain = Chain(*answers, items(0))

    sizes = [len(json.dumps(page.resume)) for page in chain.pages(paginator=cursor())]

    assert max(sizes) < 14_000


@pytest.mark.parametrize(("headers", "seconds"), [({"Retry-After": "70"}, 70), ({}, None)])
def test_an_answer_that_is_not_ready_says_when_it_may_be(headers: Any, seconds: Any) -> None:
    with pytest.raises(SourceUnavailableError, match="not ready") as refused:
        Chain(reply({"items": []}, 202, **headers)).land()

    assert refused.value.retry_after_seconds == seconds


def test_a_scroll_ends_at_an_empty_page_and_is_counted() -> None:
    scroll = cursor(constant=True, total={"path": "$.total"})
    answers = [items(1, next="s", total=2), items(2, next="s", total=2), items(next="s", total=2)]

    assert ids(Chain(*answers).land(paginator=scroll)) == [1, 2]
    with pytest.raises(SourceShapeError, match="1 records came, but there should be 2"):
        Chain(answers[0], answers[2]).land(paginator=scroll)
    with pytest.raises(SourceShapeError, match="page 2 repeats"):
        Chain(answers[0], answers[0]).land(paginator=scroll)


@pytest.mark.parametrize(
    ("following", "url", "params", "header"),
    [
        ({"path": "/scroll/{cursor}"}, "/scroll/a%2Fb%C3%A9", (), None),
        ({"params": {"q": "from {cursor}"}}, "/items", (("q", "from a/bé"),), None),
        ({"headers": {"X-Next": "{cursor}"}}, "/items", (("limit", "2"),), "7"),
    ],
)
def test_a_cursor_may_go_into_a_place_of_its_own(
    following: dict[str, Any], url: str, params: tuple[Any, ...], header: str | None
) -> None:
    first, second = ("7", 8) if header else ("a/bé", "c")
    chain = Chain(items(1, next=first), items(2, next=second), items(3))

    found = chain.land(
        params={} if "path" in following else {"limit": 2},
        paginator=cursor(following=following),
    )

    assert ids(found) == [1, 2, 3]
    request = chain.asked[1]
    assert request.url == f"https://api.example{url}"
    assert request.params == params
    assert request.headers.get("X-Next") == header
    assert "X-Next" not in chain.asked[0].headers
    assert header is None or chain.asked[2].headers["X-Next"] == "8"


def test_a_cursor_that_would_break_a_header_is_refused() -> None:
    chain = Chain(items(1, next="a\r\nX-Evil: 1"), items(2))
    following = {"headers": {"X-Next": "{cursor}"}}

    with pytest.raises(SourceShapeError, match="has signs that no header may have"):
        chain.land(paginator=cursor(following=following))
