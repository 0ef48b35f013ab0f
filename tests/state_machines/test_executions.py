"""The state machines, executed with the real functions and jobs."""

import json
import os
import signal

import pytest
from typer.testing import CliRunner

from lakekit import layout
from lakekit.cli.main import app
from tests.worlds import until

ONE, TWO, THREE = ({"id": n, "city": "here"} for n in (1, 2, 3))
MOVED = {"id": 2, "city": "there"}
FIRST = [(1, "here", 1, None, True), (2, "here", 1, None, True)]
SECOND = [
    (1, "here", 1, None, True),
    (2, "here", 1, 2, False),
    (2, "there", 2, None, True),
    (3, "here", 2, None, True),
]


def test_two_loads_open_and_close_versions_and_record_their_runs(world):
    world.serve([ONE], [TWO])
    assert world.load(1).status == "SUCCEEDED"
    assert world.rows() == FIRST

    world.serve([ONE, MOVED], [THREE])
    outcome = world.load(2)

    assert (outcome.status, outcome.output["completed"]["outcome"]) == ("SUCCEEDED", "done")
    assert world.rows() == SECOND
    assert {mark for mark in world.marks() if "complete" in mark} == {
        "20260101_000000/.complete", "20260102_000000/.complete"
    }  # fmt: skip


@pytest.mark.long
def test_a_replay_changes_nothing(world):
    world.serve([ONE, TWO])
    world.load(1)
    before = (world.rows(), world.snapshots())

    again = world.load(1)

    assert again.status == "SUCCEEDED"
    assert (world.rows(), world.snapshots()) == before


@pytest.mark.long
def test_a_source_that_throttles_twice_is_asked_again(world):
    world.serve([ONE, TWO])
    world.api.break_page(world.table, 1, 429, times=2)

    outcome = world.load(1)

    assert (outcome.status, world.api.calls) == ("SUCCEEDED", 3)
    assert world.rows() == FIRST


@pytest.mark.long
def test_a_source_that_wants_long_pauses_is_waited_for_by_the_machine(world):
    world.serve([ONE], [TWO], [THREE])
    for page in (1, 2, 3):
        world.api.break_page(world.table, page, 503, times=2, Retry_After="300")

    outcome = world.load(1)

    assert outcome.status == "SUCCEEDED"
    assert world.api.calls == 9
    assert [row[0] for row in world.rows()] == [1, 2, 3]


@pytest.mark.long
def test_a_record_that_breaks_the_contract_is_quarantined_and_the_rest_is_merged(world):
    world.serve([ONE, TWO, {"id": 3, "city": "x", "more": 1}, {"id": "three", "city": "x"}])

    outcome = world.load(1)

    assert outcome.status == "SUCCEEDED"
    assert world.rows() == [*FIRST, (3, "x", 1, None, True)]
    [rejected] = world.quarantined()
    assert '"three"' in str(rejected.values())


def test_a_load_that_a_guard_refuses_is_reported_and_merged_once_a_person_approves(world, tmp_path):
    world.serve([ONE, TWO])
    world.load(1)
    world.change_contract("max_deleted_ratio: 1", "max_deleted_ratio: 0.1")
    world.serve([ONE])
    notices = world.notices()

    failed = world.load(2)

    assert (failed.status, failed.error) == ("FAILED", "TooManyDeletedError")
    [notice] = until(notices)
    assert "20260102_000000/manifest.json waits for a person" in notice
    assert world.rows() == FIRST

    (tmp_path / "state.json").write_text(json.dumps({"endpoint": world.sandbox.endpoint}))
    place = ["--sandbox", "--data", str(tmp_path), "--json"]
    words = ["approve", world.table, "20260102_000000", "--reason", "the shop was closed"]
    approved = CliRunner().invoke(app, [*words, *place])
    assert approved.exit_code == 0, approved.output
    until(lambda: "20260102_000000/.complete" in world.marks(), seconds=300)
    assert world.rows() == [FIRST[0], (2, "here", 1, 2, False)]
    assert notices() == []


@pytest.mark.long
def test_a_landing_that_a_guard_refuses_waits_for_a_person_and_later_ones_go_on(world):
    world.serve([ONE, TWO])
    world.load(1)
    world.change_contract("max_deleted_ratio: 1", "max_deleted_ratio: 0.1")
    world.serve([ONE])

    failed = world.load(2)

    assert (failed.status, failed.error) == ("FAILED", "TooManyDeletedError")
    assert "20260102_000000/manifest.json waits for a person" in failed.cause
    blocked = f"index/blocked/{world.source}/"
    assert world.keys(blocked) == [f"{blocked}{world.table}/20260102_000000"]
    assert world.keys(f"index/pending/{world.source}/") == []
    assert "20260102_000000/.complete" not in world.marks()
    assert world.rows() == FIRST

    world.change_contract("max_deleted_ratio: 0.1", "max_deleted_ratio: 1")
    world.serve([ONE, THREE])
    assert world.load(3).status == "SUCCEEDED"
    assert world.rows() == [FIRST[0], (2, "here", 1, 3, False), (3, "here", 3, None, True)]


def test_a_merge_whose_worker_is_killed_is_started_once_more(world):
    world.serve([ONE, TWO])
    world.load(1)
    world.serve([ONE, MOVED, THREE])
    execution = world.start(2)
    kill_during_merge(world, execution)

    outcome = world.sandbox.wait(execution)

    assert outcome.status == "SUCCEEDED"
    again, killed = job_runs(world, execution)
    assert (killed["JobRunState"], again["JobRunState"]) == ("FAILED", "SUCCEEDED")
    assert "ended with signal 9" in killed["ErrorMessage"]
    assert again["NumberOfWorkers"] == 2
    assert "20260102_000000/.complete" in world.marks()
    assert world.rows() == SECOND


def job_runs(world, execution):
    """The runs of the merge's job for one execution, the newest first."""
    glue, names = world.sandbox.client("glue"), world.sandbox.names
    runs = glue.get_job_runs(JobName=names["jobs"]["merge_scd2"])["JobRuns"]
    return [run for run in runs if run["Arguments"]["--run_id"] == execution.name]


def kill_during_merge(world, execution):
    """Kill Spark once the merge has written to the table, which begins with its branch."""
    glue, names = world.sandbox.client("glue"), world.sandbox.names

    def version() -> str:
        table = glue.get_table(DatabaseName=names["database"], Name=world.table)["Table"]
        return table["VersionId"]

    def merging() -> bool:
        return any(run["JobRunState"] == "RUNNING" for run in job_runs(world, execution))

    before = version()
    until(merging)
    until(lambda: version() != before)
    os.kill(world.sandbox.spark_worker_pid, signal.SIGKILL)


def test_an_api_that_is_cut_off_in_the_middle_shows_nothing_half_loaded(world):
    world.serve([ONE, TWO])
    world.load(1)
    world.serve([ONE, MOVED], [THREE])
    world.api.break_page(world.table, 2, 503, times=50)

    failed = world.load(2)

    assert (failed.status, failed.error) == ("FAILED", "SourceUnavailableError")
    assert world.table in failed.cause
    assert world.rows() == FIRST
    assert world.marks() == {"20260101_000000/.pending", "20260101_000000/.complete"}

    world.api.faults.clear()
    assert world.load(2).status == "SUCCEEDED"
    assert world.rows() == SECOND


@pytest.mark.parametrize("tables", [2])
def test_an_endpoint_that_fails_does_not_stop_its_neighbour(world):
    bad, good = world.tables
    world.serve([ONE, TWO], table=good)
    world.serve([ONE], table=bad)
    world.api.break_page(bad, 1, 403)

    failed = world.load(1)

    assert (failed.status, failed.error) == ("FAILED", "SourceRejectedError")
    assert bad in failed.cause
    assert world.rows(good) == FIRST


def test_a_full_extract_that_a_newer_one_superseded_is_completed_with_a_note(world):
    world.serve([ONE, MOVED])
    world.load(2)
    before = world.rows()
    world.serve([ONE, TWO])
    execution = world.start(1)

    outcome = world.sandbox.wait(execution)

    folder = f"raw/{world.source}/{world.table}"
    late, newer = (f"{folder}/2026010{day}_000000/manifest.json" for day in (1, 2))
    assert (outcome.status, outcome.output["plan"]["superseded"]) == ("SUCCEEDED", 1)
    note = world.document(layout.result_key(execution.name, "plan_tables", world.table))
    assert note["landings"] == [{"manifest": late, "by": newer}]
    assert world.rows() == before
    assert "20260101_000000/.complete" in world.marks()


@pytest.mark.parametrize("tables", [2])
def test_a_landing_that_does_not_hold_is_reported_once(world):
    bad, good = world.tables
    world.serve([ONE], table=good)
    world.serve([{"city": "no key"}], table=bad)

    failed = world.load(1)

    assert (failed.status, failed.error) == ("FAILED", "TooManyRejectedError")
    prefix = f"raw/{world.source}/{bad}/20260101_000000/"
    assert f"{prefix}manifest.json waits for a person" in failed.cause
    assert world.rows(good) == [FIRST[0]]

    world.serve([ONE], table=bad)
    assert world.load(2).status == "SUCCEEDED"
    assert world.rows(bad) == [(1, "here", 2, None, True)]


def test_a_run_that_finds_its_table_held_is_deferred_and_reports_no_failure(world):
    world.serve([ONE, TWO])
    world.lease(owner="another-run")

    outcome = world.load(1)

    assert (outcome.status, outcome.output["completed"]["outcome"]) == ("SUCCEEDED", "deferred")
    assert "20260101_000000/.pending" in world.marks()
