"""Child endpoints: what may be said, what is refused, and what fits between contracts."""

import pytest

from lakekit.contract.contract import Contract, load_contract
from lakekit.contract.families import family_faults, parents_first
from lakekit.errors import InvalidContractError

PATH = "/orders/{parent.id}/items"
TABLE = "{table: orders, fields: {id: $.id}}"
SCHEMA = """
  - {name: order_id, type: bigint, from: $.parent.id}
  - {name: sku, type: string, from: $.record.sku}"""


def child(
    parent: str = TABLE,
    path: str = PATH,
    name: str = "items",
    more: str = "",
    schema: str = SCHEMA,
    history: str = "{keys: [order_id, sku]}",
) -> Contract:
    return load_contract(
        f"contract: {name}\nsource: shop\n"
        f"endpoint: {{path: '{path}', parent: {parent}{more}}}\n"
        f"schema: {schema}\nhistory: {history}\n"
    )


def table(name: str = "orders", source: str = "shop", extract: str = "full") -> Contract:
    return load_contract(
        f"contract: {name}\nsource: {source}\nendpoint: {{path: /{name}, extract: {extract}}}\n"
        "schema: [{name: id, type: bigint}]\nhistory: {keys: [id]}\n"
    )


def of_files() -> Contract:
    found = table()
    endpoint = found.endpoint.model_copy(update={"path": None})
    return found.model_copy(update={"endpoint": endpoint})


@pytest.mark.parametrize(
    ("parent", "path", "more"),
    [
        (TABLE, PATH, ""),
        ("{table: orders, fields: {id: $.a.id, name: $.name}, max_parents: 5}", PATH, ""),
        ("{table: orders, fields: {id: $.id}, absent_parents: skip}", PATH, ""),
        ("{values: [{id: eu}, {id: 7}]}", PATH, ""),
        (TABLE, "/items", ", params: {order: '{parent.id}'}"),
        (TABLE, "/items", ", body: {json: {filter: [{order: '{parent.id}'}]}}"),
        (TABLE, "/items", ", body: {form: {order: '{parent.id}'}}"),
        (TABLE, "/g", ", body: {graphql: {query: 'q', variables: {order: '{parent.id}'}}}"),
    ],
)
def test_an_endpoint_may_have_parents(parent: str, path: str, more: str) -> None:
    assert child(parent, path, more=more).endpoint.parent_fields == ("id",)


@pytest.mark.parametrize(
    ("parent", "path", "more", "fault"),
    [
        ("{}", PATH, "", "give either table or values"),
        ("{table: orders, values: [{id: 1}]}", PATH, "", "give either table or values"),
        ("{table: orders}", PATH, "", "name what is kept of each parent"),
        ("{table: orders, fields: {}}", PATH, "", "name what is kept of each parent"),
        (TABLE, "/items", "", "or all requests are the same"),
        (TABLE, "/{parent.no}", "", "{parent.no} is asked for, but is none of its fields"),
        ("{values: [{other: 1}]}", PATH, "", "{parent.id} is asked for, but is none of its fields"),
        ("{values: [{id: 1}, {other: 1}]}", PATH, "", "value 2 has other names than the first"),
        ("{values: [{id: 1}, {id: 1}]}", PATH, "", "value 2 is there twice"),
        ("{values: [{id: 1.50}]}", PATH, "", "put it in quotes"),
        ("{values: []}", PATH, "", "at least 1 item"),
        ("{values: [{id: 1}], fields: {id: $.id}}", PATH, "", "each value has its own"),
        ("{table: orders, fields: {id: '$.a[0]'}}", PATH, "", "by names alone"),
        ("{table: orders, fields: {Id: $.id}}", PATH, "", "should match pattern"),
        (TABLE, "/{parent.id:date}", "", "{parent.id} has no format"),
        (TABLE, "/{parents.id}", "", "{parents.id} is no placeholder"),
        (TABLE, PATH, ", headers: {X-Order: '{parent.id}'}", "may be in path, params and body"),
        ("{table: orders, fields: {id: $.id}, max_parents: 0}", PATH, "", "max_parents: "),
    ],
)
def test_refuses_what_does_not_go_together(parent: str, path: str, more: str, fault: str) -> None:
    with pytest.raises(InvalidContractError) as refused:
        child(parent, path, more=more)

    assert fault in str(refused.value)


def test_refuses_a_child_that_is_incremental() -> None:
    more = (
        ", params: {since: '{watermark}'}, extract: incremental, "
        "incremental: {watermark: $.at, start: 2026-01-01}"
    )

    with pytest.raises(InvalidContractError) as refused:
        child(more=more)

    assert "endpoint.parent: a child asks for everything of a parent" in str(refused.value)


def test_a_stored_contract_is_read_again() -> None:
    for each in (child(), child("{values: [{id: 1}]}")):
        assert Contract.model_validate_json(each.model_dump_json(by_alias=True)) == each


def test_refuses_a_placeholder_of_a_parent_where_there_is_none() -> None:
    with pytest.raises(InvalidContractError, match=r"give the endpoint parent: \{table"):
        load_contract(
            "contract: items\nsource: shop\nendpoint: {path: '/orders/{parent.id}'}\n"
            "schema: [{name: id, type: bigint}]\nhistory: {keys: [id]}\n"
        )


@pytest.mark.parametrize(
    "column", ["name: sku", "name: sku, from: $.sku", "name: p, from: $.parent.no"]
)
def test_refuses_columns_that_no_line_of_a_child_could_fill(column: str) -> None:
    schema = f"{SCHEMA.replace('sku', 'other')}\n  - {{{column}, type: string}}"

    with pytest.raises(
        InvalidContractError, match=r"schema.2: a child has its fields under record"
    ):
        child(schema=schema, history="{keys: [order_id]}")


def test_answers_are_read_without_the_parent() -> None:
    inner = child(schema=f"{SCHEMA}\n  - {{name: record, type: string}}").of_answers

    assert [(column.name, column.steps) for column in inner.columns] == [("sku", ("sku",))]
    assert inner.key_steps == (("sku",),)


def test_children_come_behind_their_parents() -> None:
    grandchild = child("{table: items, fields: {id: $.record.id}}", "/{parent.id}", name="taxes")

    assert [c.contract for c in parents_first([grandchild, child(), table("a"), table()])] == [
        "a", "orders", "items", "taxes",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("contracts", "fault"),
    [
        ([child()], "there is no contract 'orders' of the source 'shop'"),
        ([child(), table(source="other")], "there is no contract 'orders' of the source 'shop'"),
        ([child("{table: items, fields: {id: $.record.id}}")], "is among its own parents"),
        ([child(), table(extract="incremental")], "give history a delete_scope"),
        ([child(), of_files()], "'orders' has files alone, and is not asked for in a run"),
    ],
)
def test_names_parents_that_cannot_be(contracts: list[Contract], fault: str) -> None:
    assert fault in str(family_faults(contracts)["items"])
    with pytest.raises(InvalidContractError, match=r"items: endpoint.parent.table: "):
        parents_first(contracts)


def test_finds_a_circle_of_parents_and_ends() -> None:
    one = child("{table: taxes, fields: {id: $.record.id}}")
    other = child("{table: items, fields: {id: $.record.id}}", name="taxes")
    below = child("{table: items, fields: {id: $.record.id}}", name="below")

    assert family_faults([one, other, below]).keys() == {"items", "taxes"}


def test_children_of_moved_parents_may_have_their_scope() -> None:
    scoped = child(history="{keys: [order_id, sku], delete_scope: [order_id]}")
    moved = child(more=", extract: incremental")

    assert not family_faults([scoped, table(extract="incremental")])
    assert not family_faults([moved, table(extract="changes")])


def test_a_parent_that_does_not_load_has_faults_of_its_own() -> None:
    assert not family_faults([child()], unread=["orders"])
