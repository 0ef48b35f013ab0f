"""`lakekit add-source` looks at APIs on loopback and writes files that hold; in this process."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lakekit.cli.first.add_source import Said, add
from lakekit.cli.first.dialogue import Person, Proposals
from lakekit.cli.main import app
from lakekit.config.source import load_source
from lakekit.contract.contract import Contract, load_contract
from lakekit.discover.body import read_body
from lakekit.errors import (
    InvalidStepInputError,
    SourceRejectedError,
    SourceShapeError,
    SourceThrottledError,
)
from tests.unit.cli import apis
from tests.unit.cli.apis import Asked, Reply, Serve, serving

TOKEN = "s3cret-token-value"  # noqa: S105
KEYSET = {"key_path": "$.id", "key_param": "starting_after", "has_more": "$.has_more"}
NEXT = "$['@odata.nextLink']"
ROWS = {"columns": ["uuid", "label"], "rows": [["a", "x"], ["b", None]]}
TYPED_ROWS = {
    "meta": {"owner": [{"a": 1}], "columns": [{"name": f"c{n}", "type": "int"} for n in range(60)]},
    "data": [[*range(60)] for _ in range(3)],
}


def looked(serve: Serve, folder: Path, query: str = "", **given: Any) -> tuple[Contract, int]:
    """Return the contract that is written for an API, and how many requests it took."""
    asker = given.pop("asker", Proposals())
    with serving(serve) as (base, asked):
        written = add(Said(f"{base}/v1/customers{query}", "shop", **given), asker, folder)
        load_source((folder / "sources/shop.yaml").read_text())
        checked = CliRunner().invoke(app, ["check", *map(str, written)])
        assert checked.exit_code == 0, checked.stderr
        return load_contract((folder / "contracts/customers.yaml").read_text()), len(asked)


@pytest.mark.parametrize(
    ("serve", "records", "paginator", "requests"),
    [
        (apis.github, "$", {"type": "link_header"}, 2),
        (apis.stripe, "$.data", {"type": "keyset", **KEYSET}, 2),
        (apis.odata, "$.value", {"type": "next_url", "next_path": NEXT}, 2),
        (
            apis.numbered,
            "$.results",
            {"type": "page_number", "total": {"path": "$.total_pages"}},
            3,
        ),
        (
            apis.spring,
            "$.content",
            {"type": "page_number", "first_page": 0, "total": {"path": "$.totalPages"}},
            3,
        ),
        (apis.offsets, "$.items", {"type": "offset", "limit": 3, "total": {"path": "$.total"}}, 3),
        (
            apis.cursors,
            "$.customers",
            {"type": "cursor", "cursor_path": "$.meta.next_cursor", "cursor_param": "cursor"},
            2,
        ),
        (apis.bare_pages, "$", {"type": "page_number"}, 3),
        (apis.single, "$.data", {"type": "single_page"}, 3),
        (apis.ndjson, "$", {"type": "single_page"}, 4),
    ],
)
def test_proposes_how_pages_follow_and_proves_it_by_the_second_one(
    tmp_path: Path, serve: Serve, records: str, paginator: dict[str, Any], requests: int
) -> None:
    contract, count = looked(serve, tmp_path)

    endpoint = contract.endpoint
    assert (endpoint.records, endpoint.extract) == (records, "full")
    found = endpoint.paginator.model_dump(exclude_unset=True, exclude_none=True)
    assert found == paginator
    assert count <= requests
    assert contract.keys == ("id",)
    assert contract.history.sequence_by == "updated_at"
    assert {column.name: column.type for column in contract.columns} == {
        "id": "bigint", "name": "string", "email": "string", "balance": "decimal(18,2)",
        "active": "boolean", "created": "timestamp", "updated_at": "timestamp",
        "address": "struct<city:string,zip:string>", "tags": "array<string>",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("serve", "records", "paginator", "keys", "column"),
    [
        (apis.worldbank, "$[1]", {"type": "page_number", "total": {"path": "$[0].pages"}}, ("id",),
         "name"),
        (apis.json_api, "$.data", {"type": "next_url", "next_path": "$.links.next"}, ("id",),
         "title"),
        (apis.google, "$.items", {"type": "cursor", "cursor_path": "$.nextPageToken",
                                  "cursor_param": "pageToken"}, ("id",), "name"),
        (apis.order_lines, "$.rows", {"type": "single_page"}, ("order_id", "line_no"), "qty"),
        (apis.texts_of_offsets, "$.entries",
         {"type": "offset", "limit": 3, "total": {"path": "$.paging.total"}}, ("uuid",), "label"),
        (apis.silent_offsets, "$.items",
         {"type": "offset", "limit": 3, "limit_param": "limit", "total": {"path": "$.total"}},
         ("id",), "name"),
    ],
)  # fmt: skip
def test_finds_records_within_what_is_around_them(
    tmp_path: Path,
    serve: Serve,
    records: str,
    paginator: dict[str, Any],
    keys: tuple[str, ...],
    column: str,
) -> None:
    contract, _ = looked(serve, tmp_path)

    assert contract.endpoint.records == records
    found = contract.endpoint.paginator.model_dump(exclude_unset=True, exclude_none=True)
    assert (found, contract.keys) == (paginator, keys)
    assert column in {each.name for each in contract.columns}


def test_a_map_by_ids_gets_its_key_and_the_columns_within_it(tmp_path: Path) -> None:
    contract, _ = looked(apis.by_id, tmp_path)

    assert (contract.endpoint.shape, contract.endpoint.map_key, contract.keys) == (
        "map", "key", ("key",)
    )  # fmt: skip
    assert contract.column("name").from_ == "$.value.name"


def test_an_export_of_csv_gets_its_delimiter_and_types_of_its_cells(tmp_path: Path) -> None:
    contract, _ = looked(apis.csv_export, tmp_path)

    assert contract.endpoint.response.model_dump(exclude_unset=True) == {
        "format": "csv", "delimiter": ";"
    }  # fmt: skip
    assert [(c.name, c.type, c.from_) for c in contract.columns] == [
        ("sku", "string", None), ("Artikel_Name", "string", "Artikel Name"),
        ("price", "decimal(18,2)", None), ("valid_on", "date", "valid on"),
    ]  # fmt: skip
    assert contract.keys == ("sku",)


def test_another_dialect_of_csv_may_be_given(tmp_path: Path) -> None:
    rows = "1~Größe\n2~Ähre\n".encode("cp1252")
    said = answers("", "nothing", "{format: csv, delimiter: '~', columns: [id, name]}", "", "")
    with serving(lambda _: Reply(rows, headers={"Content-Type": "text/csv"})) as (base, _):
        file = add(Said(f"{base}/v1/customers", "shop"), said, tmp_path)[-1]

    contract = load_contract(file.read_text())
    assert contract.endpoint.response.model_dump(exclude_unset=True) == {
        "format": "csv", "delimiter": "~", "columns": ("id", "name"), "charset": "windows-1252",
    }  # fmt: skip
    assert [(c.name, c.type) for c in contract.columns] == [("id", "bigint"), ("name", "string")]


def test_elements_of_xml_are_records(tmp_path: Path) -> None:
    contract, _ = looked(apis.xml, tmp_path)

    assert contract.endpoint.records == "$.feed.items.item"
    assert [(c.name, c.type, c.from_) for c in contract.columns] == [
        ("no", "bigint", "@no"), ("title", "string", None), ("price", "decimal(18,2)", None)
    ]  # fmt: skip


def test_parameters_of_the_address_stay_but_for_those_of_the_pages(tmp_path: Path) -> None:
    contract, _ = looked(apis.offsets, tmp_path, "?offset=0&limit=2&sort=id&tag=a&tag=b")

    assert contract.endpoint.params == {"sort": "id", "tag": ("a", "b")}
    assert contract.endpoint.paginator.model_dump(exclude_unset=True)["limit"] == 2


@pytest.mark.parametrize(
    ("header", "value", "challenge", "given", "auth"),
    [
        ("Authorization", f"Bearer {TOKEN}", "Bearer realm=x", {}, {"type": "bearer"}),
        (
            "X-Api-Key",
            TOKEN,
            "",
            {"headers": [f"X-Api-Key: {TOKEN}"], "secrets": {}},
            {"type": "api_key", "header": "X-Api-Key"},
        ),
        (
            "Authorization",
            f"Bearer {TOKEN}",
            "",
            {"headers": (f"Authorization: Bearer {TOKEN}",), "secrets": {}},
            {"type": "bearer"},
        ),
    ],
)
def test_only_the_name_of_a_secret_is_written(  # noqa: PLR0917
    tmp_path: Path,
    header: str,
    value: str,
    challenge: str,
    given: dict[str, Any],
    auth: dict[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    guarded = apis.guarded(apis.github, header, value, challenge)

    looked(guarded, tmp_path, **({"secrets": {"lakekit/dev/shop": TOKEN}} | given))

    source = load_source((tmp_path / "sources/shop.yaml").read_text())
    assert source.auth[0].model_dump(exclude_unset=True, exclude={"secret"}) == auth
    assert [secret.name for _, secret in source.secrets()] == ["lakekit/{environment}/shop"]
    texts = [file.read_text() for file in tmp_path.rglob("*.yaml")]
    assert not any(TOKEN in text for text in [*texts, *capsys.readouterr()])


def test_a_client_of_oauth2_gets_its_token(tmp_path: Path) -> None:
    client = "Basic " + b64encode(f"me:{TOKEN}".encode()).decode()
    with serving(apis.by_token(apis.github, client)) as (base, _):
        way = f"oauth2 {base}/oauth/token me read write"
        said = Said(f"{base}/v1/customers", "shop", auth=way, secrets={"lakekit/dev/shop": TOKEN})
        files = add(said, Proposals(), tmp_path)

        source = load_source(files[0].read_text())
        assert source.auth[0].model_dump(exclude_unset=True) == {
            "type": "oauth2_client_credentials", "token_url": f"{base}/oauth/token",
            "client_id": "me", "client_secret": {"name": "lakekit/{environment}/shop"},
            "scopes": ("read", "write"),
        }  # fmt: skip


@pytest.mark.parametrize(
    ("way", "fault"),
    [
        ("digest", "write bearer, basic USER, .*oauth2 TOKEN_URL CLIENT_ID"),
        ("oauth2 https://a.example/token", "write bearer"),
        ("{type: bearer, header: X}", "header: Extra inputs"),
        ("{type: nothing}", "does not match any of the expected tags"),
        ("{header: X}", "write auth as in"),
        ("oauth2 http://a.example/token me", "token_url: .*https"),
    ],
)
def test_another_way_to_sign_in_is_refused(tmp_path: Path, way: str, fault: str) -> None:
    with pytest.raises(InvalidStepInputError, match=fault):
        looked(apis.github, tmp_path, auth=way, secrets={"lakekit/dev/shop": TOKEN})


def test_auth_may_be_written_as_in_a_source(tmp_path: Path) -> None:
    guarded = apis.guarded(apis.github, "Cookie", f"session={TOKEN}")
    way = "{type: api_key, cookie: session}"

    looked(guarded, tmp_path, auth=way, secrets={"lakekit/dev/shop": TOKEN})

    source = load_source((tmp_path / "sources/shop.yaml").read_text())
    assert source.auth[0].model_dump(exclude_unset=True)["cookie"] == "session"


def test_a_scheme_called_token_is_a_header_with_that_word(tmp_path: Path) -> None:
    value = f"Token {TOKEN}"
    guarded = apis.guarded(apis.github, "Authorization", value, "Token")

    looked(guarded, tmp_path, secrets={"lakekit/dev/shop": value})

    assert "header: Authorization" in (tmp_path / "sources/shop.yaml").read_text()


def test_the_secret_of_another_source_is_not_sent(tmp_path: Path) -> None:
    guarded = apis.guarded(apis.github, "Authorization", f"Bearer {TOKEN}", "Bearer")

    with pytest.raises(InvalidStepInputError, match="--secret lakekit/dev/shop=VALUE"):
        looked(guarded, tmp_path, stored={"lakekit/dev/other": TOKEN})
    looked(guarded, tmp_path, stored={"lakekit/dev/other": "x", "lakekit/dev/shop": TOKEN})


QUERY = """query ($cursor: String) {
  customers(after: $cursor) { edges { node { id } } pageInfo { endCursor hasNextPage } }
}"""
INFO = "$.data.customers.pageInfo"


@pytest.mark.parametrize(
    ("serve", "body", "kept", "paginator"),
    [
        (
            apis.graphql,
            QUERY,
            {"graphql": {"query": QUERY}},
            {"type": "cursor", "cursor_path": f"{INFO}.endCursor",
             "cursor_param": "$.variables.cursor", "has_more": f"{INFO}.hasNextPage"},
        ),
        (
            apis.searched,
            '{"pageNumber": 1, "state": ["a"]}',
            {"json_fields": {"state": ["a"]}},
            {"type": "page_number", "page_param": "$.pageNumber",
             "total": {"path": "$.totalCount", "counts": "records"}},
        ),
        (
            apis.formed,
            "kind=x",
            {"form": {"kind": "x"}},
            {"type": "cursor", "cursor_path": "$.next_token", "cursor_param": "$.next_token"},
        ),
    ],
)  # fmt: skip
def test_a_body_says_where_a_page_is(
    tmp_path: Path, serve: Serve, body: str, kept: dict[str, Any], paginator: dict[str, Any]
) -> None:
    contract, _ = looked(serve, tmp_path, body=read_body(body))

    assert contract.endpoint.body
    assert contract.endpoint.body.model_dump(exclude_unset=True) == kept
    found = contract.endpoint.paginator.model_dump(exclude_unset=True, exclude_none=True)
    assert found == paginator


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("hello", "must be an object of JSON, a query of GraphQL, or a form"),
        ("[1]", "must be an object"),
        ('{"api_key": "x"}', "api_key looks like a secret"),
    ],
)
def test_another_body_is_refused(body: str, fault: str) -> None:
    with pytest.raises(InvalidStepInputError, match=fault):
        read_body(body)


@pytest.mark.parametrize(
    ("serve", "records"), [(apis.keyed_events, "$.events"), (apis.events, "$.events[*].event")]
)
def test_a_key_with_another_name_is_the_place_of_the_next_page(
    tmp_path: Path, serve: Serve, records: str
) -> None:
    contract, _ = looked(serve, tmp_path)

    found = contract.endpoint.paginator.model_dump(exclude_unset=True, exclude_none=True)
    assert (found["key_path"], found["key_param"]) == ("$.event_id", "after_id")
    assert contract.endpoint.records == records


def test_the_command_says_what_is_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(app, ["init"])
    guarded = apis.guarded(apis.github, "Authorization", f"Bearer {TOKEN}", "Bearer")
    with serving(guarded) as (base, _):
        words = ["add-source", f"{base}/v1/customers", "--name", "shop", "--yes"]
        done = CliRunner().invoke(app, [*words, "--secret", f"lakekit/dev/shop={TOKEN}"])

    assert done.stderr == (
        f'add to {tmp_path}/secrets.yaml: lakekit/dev/shop: "…"\n'
        "next: lakekit try shop, then lakekit run shop\n"
    )


def test_a_key_in_the_address_becomes_a_secret(tmp_path: Path) -> None:
    def keyed(asked: Asked) -> Reply:
        if asked.query.get("api_key") != TOKEN:
            return Reply({"error": "no key"}, 401)
        reply = apis.odata(asked)
        link = reply.body.get("@odata.nextLink")
        if link:  # an API that repeats what it was asked with
            reply.body["@odata.nextLink"] = f"{link}&api_key={TOKEN}"
        return reply

    contract, _ = looked(keyed, tmp_path, f"?api_key={TOKEN}&x=1")

    source = load_source((tmp_path / "sources/shop.yaml").read_text())
    assert source.auth[0].model_dump(exclude_unset=True)["query"] == "api_key"
    assert contract.endpoint.params == {"x": "1"}
    assert not any(TOKEN in file.read_text() for file in tmp_path.rglob("*.yaml"))


def test_a_refusal_names_the_secret_and_the_reason(tmp_path: Path) -> None:
    guarded = apis.guarded(apis.github, "Authorization", "Bearer other", "Bearer error=expired")

    with pytest.raises(SourceRejectedError) as refused:
        looked(guarded, tmp_path, secrets={"lakekit/dev/shop": TOKEN})

    assert str(refused.value).endswith(
        "/v1/customers: 401 with secret lakekit/{environment}/shop; the source says: Bearer "
        "error=expired; Requires authentication"
    )
    assert [*tmp_path.rglob("*.yaml")] == []


def test_without_a_secret_it_says_which_one_to_give(tmp_path: Path) -> None:
    guarded = apis.guarded(apis.github, "Authorization", "x", "Bearer")

    with pytest.raises(InvalidStepInputError, match="--secret lakekit/dev/shop=VALUE"):
        looked(guarded, tmp_path)


@pytest.mark.parametrize(
    ("serve", "error", "message"),
    [
        (apis.graphql, SourceRejectedError, "400; .*Must provide query string.*GraphQL"),
        (lambda _: Reply(b"<!doctype html><html></html>"), SourceShapeError, "page for people"),
        (lambda _: Reply({"data": []}), SourceShapeError, r"\$\.data has no records"),
        (lambda _: Reply({"error": {"code": 7}}), SourceShapeError, "is an error"),
        (lambda _: Reply([1, 2, 3]), SourceShapeError, "no object"),
        (
            lambda _: Reply(ROWS),
            SourceShapeError,
            "rows has 2 records as lists of 2 values, and "
            r"their names in \$\.columns; a record is an object with the names of its fields",
        ),
        (lambda _: Reply(TYPED_ROWS), SourceShapeError, r"their names in \$\.meta\.columns"),
        (lambda _: Reply(ROWS["rows"]), SourceShapeError, "has 2 records as lists of 2 values; a"),
        (lambda _: Reply(b"{broken"), SourceShapeError, "not JSON"),
        (lambda _: Reply(b"hello"), SourceShapeError, "neither JSON, NDJSON, CSV nor XML"),
        (lambda _: Reply({"message": "no list"}, 404), SourceRejectedError, "404; the source"),
        (lambda _: Reply({}, 405), SourceRejectedError, "405; it may want a POST"),
    ],
)
def test_says_what_is_wrong_with_an_answer(
    tmp_path: Path, serve: Serve, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        looked(serve, tmp_path)

    assert [*tmp_path.rglob("*.yaml")] == []


def test_one_object_may_have_lists_of_numbers(tmp_path: Path) -> None:
    place = {"id": 1, "name": "Oslo", "outline": [[10.7, 59.9], [10.8, 59.9]]}

    contract, _ = looked(lambda _: Reply(place), tmp_path)

    assert contract.endpoint.shape == "object"
    assert contract.column("outline").type == "array<array<double>>"


def test_where_no_key_is_seen_none_is_taken(tmp_path: Path) -> None:
    records = [{"kind": "a", "size": 1.5}, {"kind": "a", "size": 2.5}, {"kind": "a", "size": 1.5}]

    with pytest.raises(InvalidStepInputError, match="key: nothing can be proposed"):
        looked(lambda _: Reply({"data": records}), tmp_path)


def test_an_api_that_wants_a_pause_is_left_alone(tmp_path: Path) -> None:
    def throttled(asked: Asked) -> Reply:
        if asked.query:
            return Reply({}, 429, {"Retry-After": "600"})
        return apis.stripe(asked)

    with pytest.raises(SourceThrottledError, match="429"):
        looked(throttled, tmp_path)


def test_a_person_who_says_nothing_more_leaves_no_file(tmp_path: Path) -> None:
    def ended() -> str:
        raise EOFError

    with pytest.raises(InvalidStepInputError, match="no answer to 'table'; nothing is written"):
        looked(apis.github, tmp_path, asker=Person(read_line=ended))

    assert [*tmp_path.rglob("*.yaml")] == []


def test_no_file_is_replaced(tmp_path: Path) -> None:
    looked(apis.github, tmp_path)
    before = (tmp_path / "contracts/customers.yaml").read_text()

    with pytest.raises(InvalidStepInputError, match=r"sources/shop\.yaml is there already"):
        looked(apis.stripe, tmp_path)  # at another port: another API

    assert (tmp_path / "contracts/customers.yaml").read_text() == before


def test_a_table_may_have_another_name_than_the_path(tmp_path: Path) -> None:
    with serving(apis.github) as (base, _):
        url = f"{base}/v1/customers"
        add(Said(url, "shop"), Proposals(), tmp_path)
        with pytest.raises(InvalidStepInputError, match="is there already, and is not replaced"):
            add(Said(url, "other", "customers"), Proposals(), tmp_path)

        written = add(Said(url, "other", "buyers"), Proposals(), tmp_path)

    assert written[-1] == tmp_path / "contracts/buyers.yaml"


def test_a_second_table_of_an_api_uses_its_source(tmp_path: Path) -> None:
    with serving(apis.github) as (base, _):
        add(Said(f"{base}/v1/customers", "shop"), Proposals(), tmp_path)
        source = (tmp_path / "sources/shop.yaml").read_text()

        written = add(Said(f"{base}/v1/more/orders", "shop"), Proposals(), tmp_path)
        with pytest.raises(InvalidStepInputError, match=r"table: .*is there already"):
            add(Said(f"{base}/v1/more/orders", "shop"), Proposals(), tmp_path)

    assert written == [tmp_path / "contracts/orders.yaml"]
    assert load_contract(written[0].read_text()).endpoint.path == "/more/orders"
    assert (tmp_path / "sources/shop.yaml").read_text() == source


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["https://a.org/x"], "--yes takes the proposals"),
        (["http://a.org/x", "--yes"], "must use https"),
        (["https://ann:pw@a.org/x", "--yes"], "must not carry a user or password"),
        (["a.org/x", "--yes"], "must begin with https://"),
        (["https://a.org/x", "--yes", "--secret", "value"], "--secret needs NAME=VALUE"),
        (["https://a.org/x", "--yes", "--header", "Nothing"], "--header needs 'Name: value'"),
        (["https://a.org/x", "--yes", "--name", "My Shop"], "--name My Shop: must be at most"),
    ],
)
def test_refuses_what_cannot_be_looked_at(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    base = tmp_path / "config/environments/base.yaml"
    base.parent.mkdir(parents=True)
    base.write_text("{}\n")

    refused = CliRunner().invoke(app, ["--project", str(tmp_path), "add-source", *arguments])

    assert message in str(refused.exception)
    assert "pw" not in str(refused.exception).replace("password", "")


def answers(*lines: str) -> Person:
    left: Iterator[str] = iter(lines)
    return Person(read_line=lambda: next(left, ""), hidden=lambda _: TOKEN)


def test_a_parameter_since_when_is_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = answers("", "", "", "", "", "", "", "incremental", "changed", "", "", "yes")
    with serving(apis.since) as (base, _):
        file = add(Said(f"{base}/v1/customers", "shop"), said, tmp_path)[-1]

    assert "changed was tried: 3 of 7 records are older" in capsys.readouterr().out
    endpoint = load_contract(file.read_text()).endpoint
    assert endpoint.params == {"updated_since": "{watermark}"}
    incremental = endpoint.model_dump()["incremental"]
    assert (incremental["watermark"], incremental["type"]) == ("$.updated_at", "timestamp")


def test_a_person_may_answer_otherwise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = answers(
        "clients", "$.nothing", "$.data", "", "address",
        "balance=decimal(4,2), tags=-", "name=int", "name=int", "email", "id, email", "id", "none",
        "incremental", "yes",
    )  # fmt: skip
    with serving(apis.stripe) as (base, _):
        file = add(Said(f"{base}/v1/customers", "shop"), said, tmp_path)[-1]

    contract = load_contract(file.read_text())
    assert contract.contract == "clients"
    assert contract.column("city").from_ == "$.address.city"
    shown = capsys.readouterr().out
    assert "$.nothing" in shown
    assert "the same answer again takes it" in shown
    assert contract.history.sequence_by is None
    assert contract.endpoint.extract == "incremental"
