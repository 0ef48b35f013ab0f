"""The page of a local warehouse: what DuckDB and the metadata of tables say, and the command."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakekit.cli.page.commands import write_report
from lakekit.cli.page.places import gather
from lakekit.cli.read.places import Where
from lakekit.errors import InvalidStepInputError
from lakekit.layout import loaded_key, run_prefix
from lakekit.local.run.place import BUCKET
from lakekit.local.run.store import FolderObjectStore
from lakekit.page.model import Page, PageTable
from lakekit.runs.documents import FailureRecord
from tests.unit.page.examples import NOW
from tests.unit.page.warehouse import FIRST, SECOND, TAG, THIRD, make_warehouse
from tests.unit.runs.kit import begun


def utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_warehouse(tmp_path_factory.mktemp("page") / "it's a warehouse")


@pytest.fixture(scope="module")
def page(warehouse: Path) -> Page:
    return gather(Where(warehouse, False, None, Path()), NOW)


@pytest.fixture
def orders(page: Page) -> PageTable:
    return next(each for each in page.tables if each.name == "orders")


def test_a_quarantine_is_part_of_its_table(page: Page, orders: PageTable) -> None:
    assert [each.name for each in page.tables] == ["orders", "plain"]
    assert orders.attached == ("orders_quarantine",)
    assert (orders.rows, orders.current, orders.keys) == (4, 2, ("at", "order"))


def test_loads_are_what_each_run_opened_closed_and_rejected(orders: PageTable) -> None:
    assert [(each.at, each.opened, each.closed, each.quarantined) for each in orders.loads] == [
        (utc(FIRST), 2, 0, 0), (utc(SECOND), 1, 1, 4), (utc(THIRD), 1, 1, 1),
    ]  # fmt: skip


def test_columns_have_nulls_changes_and_when_they_were_added(orders: PageTable) -> None:
    columns = {each.name: each for each in orders.columns}

    assert [*columns] == ["at", "order", "name", "note"]
    assert (columns["name"].changes, columns["name"].changed_at) == (1, utc(SECOND))
    assert (columns["at"].role, columns["at"].changes, columns["at"].nulls) == ("key", 0, 0)
    assert (columns["note"].nulls, columns["note"].description) == (2, "What a person wrote")
    assert columns["note"].added_at is not None
    assert columns["name"].added_at is None


def test_the_keys_with_most_versions_have_their_history(orders: PageTable) -> None:
    first = orders.histories[0]

    assert (first.key, first.count, len(orders.histories)) == ("at=x, order=1", 2, 3)
    assert [(v.valid_from, v.valid_to) for v in first.versions] == [
        (utc(FIRST), utc(SECOND)), (utc(SECOND), None),
    ]  # fmt: skip
    (change,) = first.versions[1].changes
    assert (change.column, change.old, change.new) == ("name", "a", TAG)


def test_rejects_are_counted_by_reason_with_samples(orders: PageTable) -> None:
    most, other = orders.rejects

    assert (most.reason, most.count, len(most.samples)) == ("at: null", 4, 3)
    assert (other.reason, other.samples) == (f"no JSON {TAG}", (TAG,))


def test_runs_are_known_by_their_commits(page: Page) -> None:
    runs = {each.run_id: each for each in page.runs}
    load = runs["run-2"].tables["orders"]

    assert set(runs) == {"run-1", "run-2", "run-3"}
    assert load
    assert (load.opened, load.closed) == (1, 1)


def test_runs_of_a_project_have_their_outcome_and_their_tables_a_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config/environments").mkdir(parents=True)
    (tmp_path / "config/environments/base.yaml").touch()
    warehouse = make_warehouse(tmp_path / "warehouse")
    store = FolderObjectStore(warehouse / BUCKET)
    begun(store, run_id="run-2")  # type: ignore[arg-type]
    failed = FailureRecord(
        run_id="run-9", source="shop", error="TableBusyError", cause="held", recorded_at=NOW
    )
    last = datetime(2100, 1, 1, tzinfo=UTC)  # behind the commits, which are of now
    begun(store, run_id="run-9", started_at=last)  # type: ignore[arg-type]
    store.put(f"{run_prefix('run-9')}failure.json", failed.to_json())
    store.put(loaded_key("shop", "orders"), b"run-2")
    monkeypatch.chdir(tmp_path)

    page = gather(Where(None, False, None, Path()), NOW)

    runs = {each.run_id: (each.source, each.outcome) for each in page.runs}
    assert runs["run-2"] == ("shop", "done")
    assert runs["run-9"] == ("shop", "failed")
    assert runs["run-1"] == ("shop", "done")  # known by its commit alone
    assert next(each for each in page.runs if each.run_id == "run-2").tables["orders"]
    orders = next(each for each in page.tables if each.name == "orders")
    assert orders.lineage.address == "GET https://shop.example/orders"
    (need,) = [each for each in page.needs if "failed" in each.title]
    assert need.commands == (f"lakekit runs --source shop --project {tmp_path}",)


def test_a_table_that_is_not_of_lakekit_is_shown_with_what_is_known(page: Page) -> None:
    plain = next(each for each in page.tables if each.name == "plain")

    assert (plain.kind, plain.loads, plain.histories) == ("other", (), ())
    assert [each.name for each in plain.columns] == ["id"]


def test_the_command_writes_the_page_and_its_own_command(warehouse: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"

    write_report(Where(warehouse, False, None, Path()), out)

    html = out.read_text()
    assert "<img" not in html
    assert "lakekit report --warehouse" in html
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


def test_a_file_that_cannot_be_written_is_refused(warehouse: Path, tmp_path: Path) -> None:
    where = Where(warehouse, False, None, Path())

    with pytest.raises(InvalidStepInputError, match="is a folder; give the name of a file"):
        write_report(where, tmp_path)
    with pytest.raises(InvalidStepInputError, match="there is no folder"):
        write_report(where, tmp_path / "no" / "page.html")
    with pytest.raises(InvalidStepInputError, match="give --warehouse FOLDER"):
        write_report(Where(None, False, None, Path()), tmp_path / "page.html")
