"""A preview shows what a merge would do, and changes nothing."""

from datetime import datetime
from pathlib import Path

import pytest

from lakekit.errors import LateExtractError, TooManyDeletedError
from tests.spark.support.late import at
from tests.spark.support.people import SILENT, TIMED, people

STRICT = people(max_deleted_ratio=0.1)
APPEND = people(mode="append")
MORE = people(columns={"tags": "array<string>"})


@pytest.fixture
def files(spark, table):
    """All files of a table, its journal and its quarantine."""
    folder = Path(spark.conf.get("spark.sql.catalog.lake.warehouse")) / "local"
    name = table.rpartition(".")[2]
    return lambda: sorted(
        path for each in (name, f"{name}_journal", f"{name}_quarantine")
        for path in (folder / each).rglob("*")
    )  # fmt: skip


def test_shows_what_a_run_opens_closes_deletes_and_rejects_and_leaves_no_trace(
    load, plan, files, spark, table, tmp_path
):
    load(1, {"id": 1, "name": "a", "city": "x"}, {"id": 2, "name": "b"}, {"id": 3, "name": "c"})
    before = files()

    preview = plan(2, {"id": 1, "name": "A", "city": "x"}, {"id": 2, "name": "b"}, {"id": 4}, "{oh")

    assert files() == before
    assert list((tmp_path / "p").rglob("*.parquet")) == []
    assert [row["name"] for row in spark.sql(f"SELECT name FROM {table}.refs").collect()] == [
        "main"
    ]
    first, second = datetime(2026, 1, 1), datetime(2026, 1, 2)
    assert preview.samples == {
        "opened": [
            {
                "key": {"id": 1}, "from": second, "to": None,
                "changes": {"name": {"old": "a", "new": "A"}},
            },
            {
                "key": {"id": 4}, "from": second, "to": None,
                "changes": {"name": {"new": None}, "city": {"new": None}},
            },
        ],
        "closed": [
            {"key": {"id": 1}, "from": first, "to": second},
            {"key": {"id": 3}, "from": first, "to": second},
        ],
        "deleted": [{"key": {"id": 3}, "at": second}],
        "quarantined": [{"raw": "{oh", "fault": "does not parse as the contract's schema"}],
    }  # fmt: skip
    done = plan.merge()
    assert preview.result == done.model_copy(update={"snapshot_id": None, "committed": False})
    assert plan(2, {"id": 1, "name": "A", "city": "x"}).merged


def test_a_table_that_is_not_there_would_be_opened_and_is_still_not_there(plan, files, spark):
    preview = plan(1, {"id": 1, "name": "a"}, {"id": 2, "name": "b"}, rows=1)

    assert (preview.creates, preview.result.opened, len(preview.samples["opened"])) == (True, 2, 1)
    assert not spark.catalog.tableExists(preview.result.table)
    assert files() == []
    assert plan(1, {"id": 1}, {"id": 1}, contract=APPEND).result.duplicates == 1


def test_a_table_is_seen_as_its_contract_would_make_it(load, plan, files, spark, table):
    load(1, {"id": 1, "name": "a"})
    before = files()

    preview = plan(2, {"id": 1, "name": "a", "tags": ["t"]}, contract=MORE)

    assert any("ADD COLUMN `tags` array<string>" in each for each in preview.evolves)
    assert any('"added_after":"2026-01-01T00:00:00"' in each for each in preview.evolves)
    assert preview.result.opened == 0
    assert preview.samples["overwritten"][0]["changes"] == {"tags": {"old": None, "new": ["t"]}}
    assert "tags" not in spark.table(table).columns
    assert files() == before


def test_a_version_between_two_is_shown_as_late_and_the_journal_stays_as_it_is(load, plan, files):
    load(1, {"id": 1, "name": "a", "at": "2026-01-01T00:00:00Z"}, contract=TIMED)
    load(9, {"id": 1, "name": "b", "at": "2026-01-08T00:00:00Z"}, contract=TIMED)
    before = files()

    preview = plan(
        10, {"id": 1, "name": "x", "at": "2026-01-04T00:00:00Z"},
        contract=TIMED, extract="incremental",
    )  # fmt: skip

    assert [(row["change"], row["from"].day) for row in preview.samples["late"]] == [
        ("close", 1), ("insert", 4),
    ]  # fmt: skip
    assert files() == before


@pytest.mark.long
def test_a_run_that_has_only_written_the_journal_is_merged(load, plan):
    load(1, at(1, "a"), contract=SILENT, extract="changes")
    done = load(5, at(5, "a"), contract=SILENT, extract="changes")

    seen = plan(5, at(5, "a"), contract=SILENT, extract="changes")

    assert not done.committed
    assert (seen.merged, seen.result.unchanged) == (True, 0)
    assert not plan(6, at(6, "a"), contract=SILENT, extract="changes").merged


@pytest.mark.long
def test_values_that_are_the_same_are_no_changes(load, plan):
    contract = people(
        columns={
            "x": "double",
            "y": "array<double>",
            "m": "map<string,double>",
            "s": "struct<a:map<string,int>,b:double>",
        }
    )
    one = """{"id": 1, "name": "a", "city": null, "x": -0.0, "y": [-0.0, null],
        "m": {"p": 1, "q": -0.0}, "s": {"a": {"p": 1, "q": 2}, "b": -0.0}}"""
    other = """{"id": 1, "name": "b", "city": null, "x": 0.0, "y": [0.0, null],
        "m": {"q": 0.0, "p": 1}, "s": {"a": {"q": 2, "p": 1}, "b": 0.0}}"""
    load(1, one.replace("\n", ""), contract=contract)

    seen = plan(2, other.replace("\n", ""), contract=contract)

    assert seen.samples["opened"][0]["changes"] == {"name": {"old": "a", "new": "b"}}
    moved = other.replace('"q": 2', '"q": 3').replace("\n", "")
    changes = plan(2, moved, contract=contract).samples["opened"][0]["changes"]
    assert changes.keys() == {"name", "s"}


def test_refuses_what_the_merge_refuses(load, plan):
    load(5, {"id": 1}, {"id": 2}, contract=STRICT)

    with pytest.raises(TooManyDeletedError, match="would close 1 of 2 current keys"):
        plan(6, {"id": 1}, contract=STRICT)
    with pytest.raises(LateExtractError, match="already merged"):
        plan(4, {"id": 1}, {"id": 2}, contract=STRICT)
