"""`lakekit watermark` against AWS as moto has it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakekit.aws.object_store import S3ObjectStore
from lakekit.errors import InvalidStepInputError, LakekitError, UnknownSourceError
from lakekit.landing.watermark import read_watermark
from tests.unit.cli.test_operate import call, shown, store

__all__ = ["store"]
CONTRACT = """
contract: orders
source: shop
endpoint:
  path: /orders
  params: {since: "{watermark}"}
  extract: incremental
  incremental: {watermark: $.at, start: 2026-01-01}
schema: [{name: id, type: bigint}, {name: at, type: timestamp}]
history: {keys: [id], sequence_by: at}
"""


@pytest.fixture(autouse=True)
def contracts(store: S3ObjectStore, tmp_path: Path) -> Path:
    folder = tmp_path / "config/contracts"
    folder.mkdir()
    (folder / "orders.yaml").write_text(CONTRACT)
    (folder / "full.yaml").write_text(
        "contract: full\nsource: shop\nendpoint: {path: /full}\n"
        "schema: [{name: id, type: bigint}]\nhistory: {keys: [id]}\n"
    )
    return folder


def test_a_table_without_a_complete_landing_begins_at_its_start() -> None:
    assert shown("watermark", "show").splitlines() == [
        "shop.orders  2026-01-01T00:00:00Z",
        "  timestamp of $.at, the start of its contract: no landing is complete",
    ]


def test_what_is_set_is_stored_and_shown(store: S3ObjectStore) -> None:
    done = shown("watermark", "set", "shop.orders", "2025-12-01T02:00:00+02:00")
    found = read_watermark(store, "shop", "orders")

    assert done.splitlines()[0] == "shop.orders  2025-12-01T00:00:00Z"
    assert found
    assert (found.value, found.changed_at < datetime.now(UTC)) == ("2025-12-01T00:00:00Z", True)
    assert "set by arn:aws:sts:" in shown("watermark", "show", "shop.orders")


def test_a_changed_contract_is_shown_until_a_person_sets_where_it_begins(contracts: Path) -> None:
    shown("watermark", "set", "shop.orders", "2025-12-01")
    (contracts / "orders.yaml").write_text(CONTRACT.replace("$.at,", "$.changed,"))

    assert "the contract has timestamp of $.changed: set where it begins" in shown(
        "watermark", "show"
    )
    again = call("watermark", "set", "shop.orders", "2025-12-01", "--json")
    assert '"by": "$.changed"' in again.stdout
    assert '"stored_as": null' in again.stdout


@pytest.mark.parametrize(("words", "error", "text"), [
    (("set", "orders", "2026-01-01"), InvalidStepInputError, "write SOURCE.TABLE"),
    (("set", "shop.other", "2026-01-01"), UnknownSourceError, "no such contract"),
    (("set", "shop.full", "2026-01-01"), InvalidStepInputError, "has no endpoint.incremental"),
    (("set", "shop.orders", "5"), InvalidStepInputError, "must be a time like"),
    (("set", "shop.orders", "2999-01-01"), InvalidStepInputError, "is in the future"),
    (("show", "shop.other"), LakekitError, "no such contract"),
])  # fmt: skip
def test_what_is_wrong_is_said(words: tuple[str, ...], error: type, text: str) -> None:
    failed = call("watermark", *words).exception

    assert isinstance(failed, error)
    assert text in str(failed)
