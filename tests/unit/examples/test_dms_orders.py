"""The example's files of DMS become landings of changes, and its contract holds."""

import json

import pytest

from lakekit.contract.checked import CheckedContract
from lakekit.landing.received import form_of, received_records
from tests.docs.pages import ROOT

EXAMPLE = ROOT / "examples/dms_orders"
LOADED = {"committed_at": "2026-01-01 06:00:00.000000", "seq": None}


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("LOAD00000001.csv", [(None, 1, "new"), (None, 2, "new"), (None, 3, "paid, by card")]),
        ("20260101-0700000000.csv", [("U", 1, "paid"), ("U", 1, "sent"), ("D", 2, "new")]),
        ("20260101-0800000000.csv", [("I", 4, "new"), ("U", 4, "paid"), ("D", 3, None)]),
    ],
)
def test_each_file_holds_the_changes_that_its_page_lists(name, changes):
    contract = CheckedContract.from_yaml((EXAMPLE / "contract.yaml").read_text(), name="contract")
    form = form_of(name, contract.files)

    with (EXAMPLE / "data" / name).open("rb") as stream:
        rows = [json.loads(row) for row in received_records(stream, form, contract, name)]

    assert [(row.get("Op"), row["id"], row["state"]) for row in rows] == changes
    assert all("Op" in row or row | LOADED == row for row in rows)
    assert f"| `{name}` |" in (EXAMPLE / "README.md").read_text()
