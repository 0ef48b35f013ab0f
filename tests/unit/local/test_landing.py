"""The landing of a local warehouse, without Spark."""

import json
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakekit.batch import Batch
from lakekit.errors import LandingCorruptError, LateExtractError, TableBusyError
from lakekit.local.landing import DOCUMENT, Landing


def batch(folder: Path, run_id: str, text: str = "{}", day: int = 1) -> Batch:
    file = folder / f"{run_id} of today.ndjson"
    file.write_text(text)
    return Batch(
        run_id=run_id, extract="full", files=(str(file),),
        extraction_time=datetime(2026, 1, day, tzinfo=UTC),
    )  # fmt: skip


@pytest.fixture
def landing(tmp_path: Path) -> Landing:
    return Landing(tmp_path / "warehouse", "people")


def test_a_run_is_read_from_its_copy_and_replayed_with_its_contract(landing, tmp_path):
    given = batch(tmp_path, "a", '{"id": 1}')

    landed = landing.land("text of a", given)
    Path(given.files[0]).write_text("changed in place")
    landing.mark_merged("a")

    assert Path(landed.files[0]).read_text() == '{"id": 1}'
    assert Path(landed.files[0]).name == "00000-a_of_today.ndjson"
    assert landing.merged_runs(()) == [("text of a", landed)]


def test_the_contract_of_a_table_is_that_of_its_last_merge(landing):
    with pytest.raises(LandingCorruptError, match="only merged tables"):
        landing.contract()
    landing.keep_contract("old")
    landing.keep_contract("new")

    assert landing.contract() == "new"


def test_a_run_that_is_not_merged_is_replayed_only_if_the_table_shows_it(landing, tmp_path):
    landed = landing.land("text", batch(tmp_path, "a"))

    assert landing.merged_runs(()) == []
    assert landing.merged_runs({"a"}) == [("text", landed)]


def test_a_refused_run_takes_its_place_again_and_a_merged_one_keeps_it(landing, tmp_path):
    first, second = batch(tmp_path, "a"), batch(tmp_path, "b")
    landing.land("old", first)
    landing.land("old", second)
    landing.mark_merged("b")

    landing.land("new", first)
    landing.mark_merged("a")
    landing.land("newest", second)

    runs = landing.merged_runs(())
    assert [(text, run.run_id) for text, run in runs] == [("old", "b"), ("new", "a")]


def test_a_run_that_the_table_shows_keeps_its_place_though_its_mark_is_missing(landing, tmp_path):
    run = batch(tmp_path, "a")
    landed = landing.land("old", run)

    assert landing.land("new", run, published={"a"}) == landed
    assert landing.merged_runs({"a"}) == [("old", landed)]


def test_nothing_is_kept_of_a_run_whose_merge_has_failed(landing, tmp_path):
    landing.keep_contract("text")
    landing.land("text", batch(tmp_path, "a"))
    landing.mark_merged("a")
    landing.land("text", batch(tmp_path, "b"))

    landing.discard("b")
    landing.discard("a")

    assert [run.run_id for _, run in landing.merged_runs({"b"})] == ["a"]
    assert landing.contract() == "text"


def test_a_first_run_that_has_failed_leaves_no_contract(landing, tmp_path):
    landing.keep_contract("text")
    landing.land("text", batch(tmp_path, "a"))

    landing.discard("a")

    assert list(landing.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda file: file.unlink(), "a landed file is missing"),
        (lambda file: file.write_text('{"id": 2}'), "has changed: its sha256 is"),
        (lambda file: (file.parent / DOCUMENT).write_text("{"), DOCUMENT),
    ],
)
def test_a_missing_or_changed_file_is_refused(landing, tmp_path, harm, message):
    landed = landing.land("text", batch(tmp_path, "a"))
    landing.mark_merged("a")

    harm(Path(landed.files[0]))

    with pytest.raises(LandingCorruptError, match=message):
        landing.merged_runs(())


def test_the_document_says_what_was_received(landing, tmp_path):
    given = batch(tmp_path, "a")
    landed = landing.land("text", given)

    document = json.loads((Path(landed.files[0]).parent / DOCUMENT).read_text())
    assert document["batch"]["files"] == list(given.files)
    assert document["files"][0]["received_as"] == given.files[0]
    assert document["files"][0]["bytes"] == 2


def test_a_run_older_than_one_that_changed_nothing_is_refused(landing, tmp_path):
    """The table does not show the run of the third day."""
    late, newest = batch(tmp_path, "b", day=2), batch(tmp_path, "c", day=3)
    for run in (batch(tmp_path, "a", day=1), newest):
        landing.land("text", run)
        landing.mark_merged(run.run_id)

    with pytest.raises(LateExtractError, match="before 2026-01-03"):
        landing.refuse_late(late)
    landing.refuse_late(newest)
    landing.refuse_late(batch(tmp_path, "a", day=1))


def test_a_run_that_was_landed_and_refused_keeps_no_other_out(landing, tmp_path):
    landing.land("text", batch(tmp_path, "c", day=3))

    landing.refuse_late(batch(tmp_path, "b", day=2))


def test_a_second_rebuild_of_a_table_is_refused(landing):
    with landing.locked(), pytest.raises(TableBusyError), landing.locked():
        pass


def test_a_merge_waits_until_no_other_is_at_work(landing):
    order = []

    def merge():
        with landing.locked(waits=True):
            order.append("waited")

    other = threading.Thread(target=merge)
    with landing.locked():
        other.start()
        other.join(timeout=0.2)
        assert other.is_alive()
        order.append("first")
    other.join(timeout=30)

    assert order == ["first", "waited"]
