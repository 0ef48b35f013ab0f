"""`maintain_tables`, executed with the real job."""

from hashlib import sha256

from lakekit import layout
from tests.worlds import World, until

EAGER = "maintenance: {small_files_threshold: 2}\n"
ORDERED = "history: {keys: [id], sequence_by: at, max_deleted_ratio: 1}\n"


def fragment(world: World) -> None:
    """Let two loads leave small files in the table, its journal and its quarantine."""
    world.change_contract("history: {keys: [id], max_deleted_ratio: 1}\n", ORDERED)
    world.change_contract("schema:\n", "schema:\n  - {name: at, type: timestamp}\n")
    for day in (1, 2):
        same = {"id": 1, "city": "here", "at": f"2026-01-0{day}T00:00:00Z"}
        moved = {"id": 2, "city": f"place {day}", "at": f"2026-01-0{day}T00:00:00Z"}
        world.serve([same, moved, {"id": "no number"}])
        outcome = world.load(day)
        assert outcome.status == "SUCCEEDED", outcome.cause


def test_journal_and_quarantine_are_maintained_with_their_table_and_the_lease_is_given_back(
    world: World,
) -> None:
    fragment(world)
    world.change_contract("quality:", f"{EAGER}quality:")
    before = (world.rows(), world.quarantined())

    done = world.maintain()["maintained"]

    names = [world.table, f"{world.table}_journal", f"{world.table}_quarantine"]
    assert [each["table"].split(".")[-1] for each in done] == names
    # The table is small: each run has rewritten all current versions.
    assert [each["actions"] for each in done] == [[], *[["rewrite_data_files"]] * 2]
    assert all(each["after"]["small_files"] < each["before"]["small_files"] for each in done[1:])
    assert (world.rows(), sorted(world.quarantined(), key=str)) == (
        before[0], sorted(before[1], key=str))  # fmt: skip
    assert world.load(3).status == "SUCCEEDED"


def test_a_table_that_a_run_holds_is_left_alone(world: World) -> None:
    world.serve([{"id": 1, "city": "here"}])
    world.load(1)
    held = world.lease(owner="another-run")

    result = world.maintain()

    assert "held by another-run" in result["busy"]
    assert result["maintained"] == []
    assert world.lease() == held


def test_a_load_starts_maintenance_if_the_job_has_something_to_do(world: World) -> None:
    world.change_contract("quality:", f"{EAGER}quality:")
    world.serve([{"id": 1, "city": "here"}])
    world.load(1)
    world.serve([{"id": 1, "city": "there"}])
    # Two small files, in two partitions.
    assert not world.load(2).output["completed"]["maintain"]
    world.serve([{"id": 1, "city": "here"}])
    execution = world.start(3)

    assert world.sandbox.wait(execution).output["completed"]["maintain"]

    # Made of the load's name: a second start changes nothing. Yet a name of its own.
    name = f"maintain-{sha256(execution.name.encode()).hexdigest()}"
    key = layout.result_key(name, "maintain_tables", world.table)
    until(lambda: key in world.keys(f"runs/{name}/"))
    [done] = world.document(key)["maintained"]
    assert done["table"].endswith(world.table)
    assert done["actions"] == ["rewrite_data_files"]
    assert "/maintain_tables/" not in "".join(world.keys(f"runs/{execution.name}/"))
