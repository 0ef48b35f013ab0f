"""`lakekit try` shows the table that a few pages would make; in this process."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lakekit.cli.main import app
from tests.unit.cli import apis
from tests.unit.cli.apis import Asked, Reply, Serve, serving

CONTRACT = """
contract: customers
source: shop
endpoint: {path: /customers, paginator: {type: page_number}}
schema:
  - {name: id, type: bigint, required: true}
  - {name: balance, type: "decimal(4,2)"}
  - {name: updated_at, type: timestamp}
  - {name: nothing, type: string}
history: {keys: [id], sequence_by: updated_at}
"""


def tried(serve: Serve, project: Path, *options: str, contract: str = CONTRACT) -> Result:
    folder = project / "config"
    (folder / "environments").mkdir(parents=True, exist_ok=True)
    (folder / "environments/base.yaml").write_text("{}\n")
    with serving(serve) as (base, _):
        for kind, name in (("sources", "shop"), ("contracts", "customers")):
            (folder / kind).mkdir(exist_ok=True)
            text = f"source: shop\nbase_url: {base}\n" if kind == "sources" else contract
            if kind == "sources" and "--secret" in options:
                text += 'auth: {type: bearer, secret: "lakekit/{environment}/shop"}\n'
            (folder / kind / f"{name}.yaml").write_text(text)
        return CliRunner().invoke(app, ["--project", str(project), "try", "shop", *options])


def pages(asked: Asked) -> Reply:
    """Two versions of one key, a value that does not fit, a line without its key."""
    number = int(asked.query["page"])
    found = [
        [
            {"id": 1, "balance": "1.50", "updated_at": "2026-01-02T00:00:00Z", "more": 1},
            {"id": 1, "balance": "0.50", "updated_at": "2026-01-01T00:00:00Z"},
        ],
        [
            {"id": 2, "balance": "1.555", "updated_at": "2026-01-01T00:00:00Z"},
            {"id": None, "updated_at": "2026-01-01T00:00:00Z"},
        ],
        [{"id": 3, "balance": 7, "updated_at": 1767225600}],
    ]
    return Reply(found[number - 1] if number <= 3 else [])


def test_shows_the_rows_that_would_be_current(tmp_path: Path) -> None:
    before = [*tmp_path.rglob("*")]

    result = tried(pages, tmp_path, "--format", "ndjson")

    assert result.exit_code == 0, result.exception
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"id": 1, "balance": "1.50", "updated_at": "2026-01-02T00:00:00", "nothing": None},
        {"id": 3, "balance": "7.00", "updated_at": "2026-01-01T00:00:00", "nothing": None},
    ]
    assert before == []
    assert {file.name for file in tmp_path.rglob("*.*")} == {
        "base.yaml", "shop.yaml", "customers.yaml"
    }  # fmt: skip


def test_says_what_would_be_rejected_and_why(tmp_path: Path) -> None:
    lines = tried(pages, tmp_path).stderr.splitlines()

    assert lines == [
        "customers: 3 pages by page_number in 3 requests (2, 2, 1 records)",
        "there are more pages",
        "5 records: 2 rows, 1 replaced or repeated by another of the key, 2 rejected",
        "rejected (1): balance: does not fit decimal(4,2)",
        '  {"id": 2, "balance": "1.555", "updated_at": "2026-01-01T00:00:00Z"}',
        "rejected (1): id: required, but null",
        '  {"id": null, "updated_at": "2026-01-01T00:00:00Z"}',
        "a run would fail: quality.max_rejected_ratio allows 0.01",
        "fields that no column reads: more",
        "columns whose field no record has: nothing",
    ]


def test_as_many_pages_as_are_wanted(tmp_path: Path) -> None:
    all_pages = tried(pages, tmp_path, "--pages", "9")

    assert (
        "4 pages by page_number in 4 requests (2, 2, 1, 0 records)\nthe last page is the end"
        in (all_pages.stderr)
    )
    assert "a full extract: keys that are in the table and not here" in all_pages.stderr
    assert "1 page by" in tried(pages, tmp_path, "--pages", "1").stderr


def test_a_secret_is_given_by_its_name(tmp_path: Path) -> None:
    guarded = apis.guarded(pages, "Authorization", "Bearer t0ken-of-ours")

    good = tried(guarded, tmp_path, "--secret", "lakekit/dev/shop=t0ken-of-ours")
    bad = tried(guarded, tmp_path, "--secret", "lakekit/dev/shop=another-token")
    none = tried(guarded, tmp_path, "--secret", "lakekit/dev/other=t0ken-of-ours")

    assert good.exit_code == 0
    assert "401 with secret lakekit/{environment}/shop; the source says" in str(bad.exception)
    assert "secret lakekit/dev/shop: has no value here; add it to secrets.yaml" in str(
        none.exception
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--endpoint", "orders"], "shop has no endpoint orders; there are customers"),
        (["--pages", "0"], "2"),
    ],
)
def test_refuses_what_there_is_not(tmp_path: Path, options: list[str], message: str) -> None:
    assert message in str(tried(pages, tmp_path, *options).exception)


def test_shows_what_came_before_a_page_that_fails(tmp_path: Path) -> None:
    def broken(asked: Asked) -> Reply:
        return Reply({"data": [], "x": 1}) if asked.query["page"] == "3" else pages(asked)

    result = tried(broken, tmp_path, "--format", "ndjson")

    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == [1]
    assert "2 pages by page_number in 3 requests (2, 2 records)\nthe next page fails" in (
        result.stderr
    )
    assert "$ is an object, not a list" in str(result.exception)


def test_says_the_total_that_the_source_states(tmp_path: Path) -> None:
    counted = CONTRACT.replace(
        "{path: /customers, paginator: {type: page_number}}",
        "{path: /customers, records: $.results, "
        "paginator: {type: page_number, total_path: $.total_pages}}",
    )

    assert (
        "the source states a total of 3"
        in tried(apis.numbered, tmp_path, "--pages", "1", contract=counted).stderr
    )


def test_a_truncated_extract_fails_as_a_run_would(tmp_path: Path) -> None:
    single = CONTRACT.replace("page_number}", "single_page}").replace(
        "/customers,", "/customers, records: $.data,"
    )

    result = tried(apis.stripe, tmp_path, contract=single)

    assert "the source shows that there is more: $.has_more is true" in str(result.exception)
