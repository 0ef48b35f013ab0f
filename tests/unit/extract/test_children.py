"""Child endpoints: what is asked for each parent, and what lands."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakekit.errors import SourceRejectedError, SourceShapeError, SourceThrottledError
from lakekit.extract import Page, extract_children
from lakekit.extract.walks.children import child_lines
from lakekit.json_text.lines import read_fields
from tests.unit.extract.chain import Chain, reply
from tests.unit.extract.conftest import VALUES, contract_of
from tests.unit.extract.scripted import SOURCE

PATH = "/orders/{parent.id}/items"


def walk(
    chain: Chain, parents: list[dict[str, bytes]], resume: Any = None, **endpoint: Any
) -> list[Page]:
    parent = {"table": "orders", "fields": {n: f"$.{n}" for n in parents[0] if parents} or {}}
    contract = contract_of(
        {"path": PATH, "records": "$.items"}
        | endpoint
        | {"parent": parent | endpoint.pop("parent", {})},
        {"record": "string"},
    )
    pages = []
    for page in extract_children(SOURCE, contract, chain, VALUES, parents, resume=resume):  # type: ignore[arg-type]
        pages.append(Page([*page.records], page.number, json.loads(json.dumps(page.resume))))
    return pages


def lines(pages: list[Page]) -> list[bytes]:
    return [line for page in pages for line in page.records]


def test_each_record_lands_as_it_was_received_next_to_its_parent() -> None:
    chain = Chain(reply(b'{"items": [{"x": 1.10}, {"x":  2}]}'), {"items": []})
    parents = [{"id": b"12345678901234567890"}, {"id": b'"\\u00e9"'}]

    assert lines(walk(chain, parents)) == [
        b'{"parent":{"id":12345678901234567890},"record":{"x": 1.10}}',
        b'{"parent":{"id":12345678901234567890},"record":{"x":  2}}',
    ]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (b"7", "/orders/7/items"),
        (b'"a/b?c#d%2F&\\u00e9 "', "/orders/a%2Fb%3Fc%23d%252F%26%C3%A9%20/items"),
        (b"true", "/orders/true/items"),
        (b'"%2e%2e"', "/orders/%252e%252e/items"),
    ],
)
def test_a_field_in_a_path_leads_to_no_other_path(value: bytes, path: str) -> None:
    chain = Chain({"items": []})

    walk(chain, [{"id": value}])

    assert chain.asked[0].url == f"https://api.example{path}"


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (b'""', "is empty"),
        (b"null", "must be a text, a number or a boolean"),
        (b"{}", "must be a text, a number or a boolean"),
        (b"[1]", "must be a text, a number or a boolean"),
        (b'".."', "would lead to another path"),
        (b'"."', "would lead to another path"),
        (b'"\\ud83d"', "UTF-8 cannot hold"),
    ],
)
def test_names_a_parent_that_cannot_be_asked_for(value: bytes, fault: str) -> None:
    with pytest.raises(SourceShapeError, match=fault) as failed:
        walk(Chain({"items": []}), [{"id": value}])

    assert str(failed.value).startswith(f'parent {{"id":{value.decode()}}}: ')


def test_a_field_in_json_has_the_type_that_the_parent_has() -> None:
    chain = Chain({"items": []})
    body = {"json": {"order": "{parent.id}", "name": "no. {parent.id}"}}

    walk(chain, [{"id": b"7.50"}], path="/items", body=body)

    assert chain.asked[0].body == b'{"order":7.50,"name":"no. 7.50"}'


def test_params_have_the_text_of_a_field() -> None:
    chain = Chain({"items": []})

    walk(chain, [{"id": b'"a&b"'}], path="/items", params={"order": "{parent.id}"})

    assert chain.asked[0].params == (("order", "a&b"),)


def test_each_parent_has_its_own_pages_and_totals() -> None:
    paged = {"type": "page_number", "total_path": "$.pages"}
    chain = Chain(
        {"items": [{"n": 1}], "pages": 2}, {"items": [{"n": 2}], "pages": 2},
        {"items": [{"n": 3}], "pages": 1},
    )  # fmt: skip

    pages = walk(chain, [{"id": b"1"}, {"id": b"2"}], paginator=paged)

    assert [page.number for page in pages] == [1, 2, 3]
    assert [page.last for page in pages] == [False, False, True]
    assert [dict(r.params)["page"] for r in chain.asked] == ["1", "2", "1"]


def test_a_sign_of_more_fails_with_its_parent() -> None:
    chain = Chain({"items": [{"n": 1}]}, {"items": [{"n": 2}], "has_more": True})

    with pytest.raises(SourceShapeError, match=r'parent {"id":2}: .* there is more'):
        walk(chain, [{"id": b"1"}, {"id": b"2"}])


@pytest.mark.parametrize("status", [404, 410])
def test_an_absent_parent_is_skipped_where_that_is_declared(status: int) -> None:
    chain = Chain({"items": [{"n": 1}]}, reply(status=status), {"items": [{"n": 3}]})
    skip = {"absent_parents": "skip"}

    found = lines(walk(chain, [{"id": b"1"}, {"id": b"2"}, {"id": b"3"}], parent=skip))

    assert [json.loads(line)["parent"]["id"] for line in found] == [1, 3]
    assert status in chain.asked[0].accept_statuses


def test_an_absent_parent_fails_otherwise() -> None:
    chain = Chain({"items": []})

    walk(chain, [{"id": b"1"}])

    assert not chain.asked[0].accept_statuses


def test_a_parent_that_is_absent_after_its_first_page_is_not_skipped() -> None:
    chain = Chain({"items": [{"n": 1}], "pages": 2}, reply(status=404))
    paged = {"type": "page_number", "total_path": "$.pages"}

    with pytest.raises(SourceRejectedError, match=r'parent {"id":1}: page 2 is answered 404'):
        walk(chain, [{"id": b"1"}], parent={"absent_parents": "skip"}, paginator=paged)


def test_a_busy_source_keeps_its_wait_with_the_parent_named() -> None:
    class Busy(Chain):
        def send(self, request: Any) -> Any:
            raise SourceThrottledError("429", 77)

    with pytest.raises(SourceThrottledError, match=r'parent {"id":1}: 429') as failed:
        walk(Busy(), [{"id": b"1"}])

    assert failed.value.retry_after_seconds == 77


def test_cells_of_csv_get_the_types_of_the_columns_below_record() -> None:
    contract = contract_of(
        {"path": PATH, "response": {"format": "csv"}, "parent": {"values": [{"id": 1}]}},
        {"record": "string"},
    )
    price = contract.columns[0].model_copy(
        update={"name": "price", "type": "double", "from_": "$.record.price"}
    )
    contract = contract.model_copy(update={"columns": (*contract.columns, price)})
    chain = Chain(reply(b"price,name\n1.50,x\n"))

    pages = extract_children(SOURCE, contract, chain, VALUES, [{"id": b"1"}])  # type: ignore[arg-type]

    line = next(iter(next(pages).records))
    assert line == b'{"parent":{"id":1},"record":{"price":1.50,"name":"x"}}'


@given(st.binary(max_size=40))
def test_no_text_makes_a_record_of_what_is_none(text: bytes) -> None:
    (line,) = child_lines({"id": b"7"}, [text])
    fields = read_fields(line)

    assert text in line
    if fields is not None and line != text:
        assert (fields["parent"], fields["record"]) == (b'{"id":7}', text.strip(b" \t\r\n"))


@pytest.mark.parametrize("text", [b'1,"parent":{"id":9}', b'1},"x":{', b'{"a":NaN}', b""])
def test_what_is_not_json_goes_on_as_what_is_not_json(text: bytes) -> None:
    (line,) = child_lines({"id": b"7"}, [text])

    assert read_fields(line) is None
    assert text in line
