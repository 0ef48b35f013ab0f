"""The page on sources: its recipes read such an API, and its tables have every field."""

import json
import re
from dataclasses import replace
from typing import Any, get_args

import pytest
from requests.structures import CaseInsensitiveDict

from lakekit.config.source import Source
from lakekit.contract.contract import Contract, load_contract
from lakekit.contract.endpoint import Endpoint, paginators
from lakekit.contract.endpoint import answer as answers
from lakekit.contract.endpoint.export import Export
from lakekit.contract.endpoint.incremental import Incremental, WatermarkType
from lakekit.contract.endpoint.parent import Parents
from lakekit.contract.endpoint.placeholders import FORMATS, placeholder_faults
from lakekit.extract import (
    Answer,
    SourceRequest,
    extract_children,
    extract_export,
    extract_pages,
    extract_steps,
    values_of_steps,
)
from tests.docs.pages import ROOT, read, snippets
from tests.unit.extract.conftest import VALUES

PAGE = read(ROOT / "docs/sources.md")
ENDPOINTS = PAGE[PAGE.index("## Endpoints") : PAGE.index("## Recipes")]
API_RECIPES = PAGE[PAGE.index("## Recipes") : PAGE.index("## Files instead of an API")]
RECIPES = {
    contract.contract: contract
    for each in snippets("yaml")
    if each.page == "docs/sources.md" and each.text.startswith("# contract")
    if each.text in API_RECIPES
    for contract in [load_contract(each.text)]
}
SOURCE = Source.model_validate({"source": "s", "base_url": "https://api.example"})


class Api:
    """An API of one kind: each request is matched with what should be asked, then answered."""

    def __init__(self, script: list[tuple[str, Any, dict[str, str]]]) -> None:
        self.script = list(script)
        self.calls = 0

    def send(self, request: SourceRequest) -> Answer:
        self.calls += 1
        expected, body, headers = self.script.pop(0)
        query = "&".join(f"{name}={value}" for name, value in request.params)
        asked = f"{request.method} {request.url.removeprefix(SOURCE.base_url)}"
        sent = f" {request.body.decode()}" if request.body else ""
        assert expected in f"{asked}{'?' if query else ''}{query}{sent}"
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        return Answer(request.url, 200, CaseInsensitiveDict(headers), text)


def nodes(*ids: str, more: bool) -> dict[str, Any]:
    edges = [{"node": {"id": each, "name": "x"}} for each in ids]
    info = {"endCursor": ids[-1], "hasNextPage": more}
    return {"data": {"members": {"edges": edges, "pageInfo": info}}}


def hits(*ids: int) -> dict[str, Any]:
    found = [{"_id": str(each), "_source": {"id": each}} for each in ids]
    return {"_scroll_id": "s", "timed_out": False,
            "hits": {"total": {"value": 2, "relation": "eq"}, "hits": found}}  # fmt: skip


SCRIPTS: dict[str, list[tuple[str, Any, dict[str, str]]]] = {
    "issues": [
        ("GET /repos/acme/shop/issues?state=all&per_page=100", [{"id": 1}],
         {"Link": '<https://api.example/i?page=2>; rel="next", <x>; rel="last"'}),
        ("GET /i?page=2", [{"id": 2}], {"Link": '<x>; rel="prev"'}),
    ],
    "charges": [
        ("GET /v1/charges?limit=100", {"data": [{"id": "a"}], "has_more": True}, {}),
        ("?limit=100&starting_after=a", {"data": [{"id": "b"}], "has_more": False}, {}),
    ],
    "accounts": [
        ("/query?q=SELECT Id, Name FROM Account",
         {"totalSize": 2, "done": False, "nextRecordsUrl": "/q/2", "records": [{"Id": "a"}]}, {}),
        ("GET /q/2", {"totalSize": 2, "done": True, "records": [{"Id": "b"}]}, {}),
    ],
    "products": [
        ("/odata/Products?$count=true&$select=ID,Name",
         {"@odata.count": 2, "value": [{"ID": 1}],
          "@odata.nextLink": "https://api.example/odata/Products?$skiptoken=1"}, {}),
        ("?$skiptoken=1", {"value": [{"ID": 2}]}, {}),
    ],
    "members": [
        ('POST /graphql {"query":"query', nodes("a", more=True), {}),
        ('"variables":{"first":100,"after":"a"}', nodes("b", more=False), {}),
    ],
    "documents": [
        ("POST /shop/_search?scroll=1m", hits(1), {}),
        ('POST /_search/scroll {"scroll":"1m","scroll_id":"s"}', hits(2), {}),
        ("POST /_search/scroll", hits(), {}),
    ],
    "exports": [
        ("GET /export.csv?until=1769866215&page=1", b"id;price\n1;01.50\n", {"X-Total-Pages": "2"}),
        ("&page=2", b"id;price\n2;3\n", {"X-Total-Pages": "2"}),
    ],
    "contacts": [
        ("GET /contacts/changes?since=2019-12-31T23:55:00Z", {"changes": [{"id": 1}],
         "has_more": True, "next_cursor": "c"}, {}),
        ("&cursor=c", {"changes": [{"id": 2, "deleted": True}], "has_more": False}, {}),
    ],
    "readings": [
        ("?format=json&per_page=500&page=1", [{"page": 1, "pages": 2}, [{"id": "a"}]], {}),
        ("&page=2", [{"page": 2, "pages": 2, "total": 2}, [{"id": "b"}]], {}),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", sorted({*RECIPES, *SCRIPTS}))
def test_a_recipe_reads_an_api_of_its_kind(name: str) -> None:
    contract, api = RECIPES[name], Api(SCRIPTS[name])

    incremental = contract.endpoint.incremental
    steps = values_of_steps(incremental, incremental.begin if incremental else "", VALUES)
    pages = extract_steps(SOURCE, contract, api, steps)  # type: ignore[arg-type]
    records = [json.loads(record) for page in pages for record in page.records]

    assert api.script == []
    assert [each[contract.keys[0]] for each in records] in ([1, 2], ["a", "b"])


def contract_of_the_page(name: str) -> Contract:
    found = [text for text in ENDPOINTS.split("```") if f"\ncontract: {name}\n" in text]
    return load_contract(found[0].removeprefix("yaml\n"))


def test_the_child_endpoint_of_the_page_reads_the_items_of_each_order() -> None:
    api = Api(
        [
            ("GET /orders/7/items", {"items": [{"sku": "a"}], "next": "c"}, {}),
            ("GET /orders/7/items?cursor=c", {"items": [{"sku": "b"}], "next": None}, {}),
            ("GET /orders/8/items", {"items": [], "next": None}, {}),
        ]
    )
    parents = [{"id": b"7", "placed_at": b'"x"'}, {"id": b"8", "placed_at": b"null"}]

    pages = extract_children(SOURCE, contract_of_the_page("order_items"), api, VALUES, parents)  # type: ignore[arg-type]

    assert [record for page in pages for record in page.records] == [
        b'{"parent":{"id":7,"placed_at":"x"},"record":{"sku": "a"}}',
        b'{"parent":{"id":7,"placed_at":"x"},"record":{"sku": "b"}}',
    ]
    assert api.script == []


def test_the_export_of_the_page_is_created_followed_and_downloaded() -> None:
    file = "https://files.shop.example/1.csv?sig=x"
    api = Api(
        [
            ("POST /exports {", {"id": 5}, {}),
            ("GET /exports/5", {"status": "running"}, {}),
            ("GET /exports/5", {"status": "finished", "files": [{"url": file}]}, {}),
            (f"GET {file}", b"id,total\n1,2.50\n", {}),
        ]
    )

    pages = [*extract_export(SOURCE, contract_of_the_page("order_dump"), api, VALUES)]  # type: ignore[arg-type]

    assert [page.wait_seconds for page in pages] == [30, 30, 0]
    assert [*pages[-1].records] == [b'{"id":1,"total":2.50}']


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_without_its_paginator_a_recipe_does_not_take_one_page_for_all(name: str) -> None:
    contract = RECIPES[name]
    single = contract.endpoint.model_copy(
        update={"paginator": paginators.SinglePage(type="single_page")}
    )
    api = Api([("", *SCRIPTS[name][0][1:])])
    values = replace(VALUES, incremental={"watermark": VALUES.started_at})
    pages = extract_pages(
        SOURCE, contract.model_copy(update={"endpoint": single}), api, values  # type: ignore[arg-type]
    )  # fmt: skip

    with pytest.raises(Exception, match="the source shows that there is more"):
        list(pages)


def described(section: str) -> set[str]:
    text = ENDPOINTS[ENDPOINTS.index(f"### {section}") :]
    return set(re.findall(r"`([a-z_.]+)`", text[: text.find("\n### ", 5)]))


def test_the_tables_have_every_field() -> None:
    top = ENDPOINTS[: ENDPOINTS.index("### ")]
    rows = re.findall(r"^\| `([a-z_]+)` \|", top, re.MULTILINE)
    every = {
        field.alias or name
        for model in (paginators.PageNumber, paginators.Offset, paginators.Cursor,
                      paginators.Keyset, paginators.NextUrl, paginators.LinkHeader)
        for name, field in model.model_fields.items()
    }  # fmt: skip
    formats = {
        name
        for model in (answers.JsonAnswers, answers.CsvAnswers, answers.NdjsonAnswers,
                      answers.XmlAnswers)
        for name in model.model_fields
    }  # fmt: skip

    assert rows == list(Endpoint.model_fields)
    assert every - described("Paginators") == {"type"}
    assert {*paginators.Total.model_fields} <= described("Totals")
    assert formats - described("Answers") == {"format"}
    assert {*Incremental.model_fields, *get_args(WatermarkType)} <= described("Incremental")
    assert {f"parent.{name}" for name in Parents.model_fields} <= described("Child endpoints")
    assert {f"export.{name}" for name in Export.model_fields} <= described("Exports")
    assert {"body.json", "body.form", "body.graphql.query"} <= described("Bodies")


def test_the_tables_have_every_placeholder_and_format() -> None:
    text = ENDPOINTS[ENDPOINTS.index("### Placeholders") : ENDPOINTS.index("### Bodies")]
    names = re.findall(r"^\| `(\{[a-z_.]+\})` \|", text, re.MULTILINE)

    assert names == [
        "{run.started_at}",
        "{run.extraction_time}",
        "{environment}",
        "{watermark}",
    ]
    assert all(not placeholder_faults(name) for name in names)
    assert set(FORMATS) <= described("Placeholders")
