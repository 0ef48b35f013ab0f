"""RebuildTable in the sandbox: a table that was loaded is derived again from its landing."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from lakekit import layout
from lakekit.cli.main import app
from lakekit.sql.line_hash import DIGEST
from tests.worlds import World, until


def rebuild(world: World, *options: str) -> Result:
    """Rebuild the first table as a person does."""
    place = ["--table", world.table, "--source", world.source]
    words = ["sandbox", "rebuild", *place, *options, "--endpoint", world.sandbox.endpoint]
    return CliRunner().invoke(app, words)


def rebuilt(world: World, *options: str) -> Any:
    done = rebuild(world, "--json", *options)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def whole(world: World) -> list[str]:
    """Return every row with all its columns."""
    # A rebuild leaves the digests of lines to the next full extract.
    return sorted(map(str, world._table(world.table).scan().to_arrow().drop([*DIGEST]).to_pylist()))


def expire(world: World, prefix: str) -> None:
    """Let objects expire."""
    bucket = world.sandbox.names["landing_bucket"]
    for key in world.keys(prefix):
        world.sandbox.client("s3").delete_object(Bucket=bucket, Key=key)


def load(world: World, day: int, *cities: str) -> str:
    """Load one city per id; return the run's id."""
    world.serve([{"id": number, "city": city} for number, city in enumerate(cities, 1)])
    execution = world.start(day)
    outcome = world.sandbox.wait(execution, timeout=120)
    assert outcome.status == "SUCCEEDED", outcome.cause
    return execution.name


@pytest.mark.long
def test_a_damaged_table_becomes_what_it_was_key_by_key_or_as_a_whole(
    world: World, tmp_path: Path
) -> None:
    runs = [load(world, 1, "here", "there")]
    world.change_contract("schema:\n", "schema:\n  - {name: zip, type: string}\n")
    # The second changes nothing; a crash of the third has left only its commit.
    runs += [load(world, 2, "here", "there"), load(world, 3, "far", "there", "new")]
    expire(world, layout.result_key(runs[2], "merge_scd2", world.table))
    before, table = whole(world), world._table(world.table)
    assert len(before) == 4
    # PyIceberg writes another layout, and says so.
    layouts = pytest.warns(UserWarning, match="row-group-size-bytes")
    with pytest.warns(UserWarning, match="Merge on read"), layouts:
        table.delete("id = 2 OR city = 'here'")
    assert len(whole(world)) == 2
    keys = tmp_path / "keys.ndjson"
    keys.write_text('{"id": 2}\n')

    some = rebuilt(world, "--keys", str(keys))
    assert len(whole(world)) == 3
    rest = rebuilt(world)

    assert whole(world) == before
    assert [each["runs"] for each in (some, rest)] == [runs] * 2
    counts = [(each["missing"], each["wrong"], each["committed"]) for each in (some, rest)]
    assert counts == [(1, 0, True), (1, 0, True)]
    found = world.sandbox.client("glue").get_tables(DatabaseName=world.sandbox.names["database"])
    assert not [each["Name"] for each in found["TableList"] if "__rebuild" in each["Name"]]
    # The lease is given back, and the next load goes on from here.
    load(world, 4, "far", "there", "newer")
    assert world.rows()[-1] == (3, "newer", 4, None, True)


def test_a_table_behind_its_contract_is_brought_to_it_first(world: World) -> None:
    load(world, 1, "here")
    world.change_contract("history: {keys", "history: {track_history_columns: [], keys")

    done = rebuilt(world)

    assert (done["missing"], done["wrong"], done["committed"]) == (0, 0, False)


def test_a_lease_keeps_rebuilds_and_loads_apart_and_a_lost_landing_stops_them(
    world: World,
) -> None:
    load(world, 1, "here")
    held = world.lease(owner="another-run")

    busy = rebuild(world)

    assert (busy.exit_code, world.lease()) == (1, held)
    assert "TableBusyError" in busy.stderr
    assert "held by another-run" in busy.stderr
    # A rebuild that was killed has left its lease: no run merges, but the next rebuild takes over.
    world.lease(owner=layout.REBUILD_OWNER)
    assert world.load(2).output["completed"]["outcome"] == "deferred"
    assert f"{world.table}: 1 runs; 0 rows missing, 0 wrong" in rebuild(world).stdout
    assert datetime.fromisoformat(world.lease()["expires_at"]) <= datetime.now(UTC)

    # Without its landing a table is left as it is.
    before = whole(world)
    expire(world, layout.source_prefix(world.source))
    done = rebuild(world)
    assert done.exit_code == 1
    assert f"LandingCorruptError: {world.table}: 1 of 1 merged landings" in done.stderr
    assert "log: " in done.stderr
    assert whole(world) == before


def test_a_second_rebuild_is_asked_to_wait(world: World) -> None:
    load(world, 1, "here")
    glue, name = world.sandbox.client("glue"), world.sandbox.names["jobs"]["rebuild_table"]
    places = {f"--{key}": world.sandbox.names[key] for key in
              ("landing_bucket", "database", "warehouse")}  # fmt: skip
    first = glue.start_job_run(JobName=name, Arguments=places | {
        "--run_id": "first", "--source": world.source, "--table": world.table,
    })["JobRunId"]  # fmt: skip

    second = rebuild(world)

    def ended() -> Any:
        run = glue.get_job_run(JobName=name, RunId=first)["JobRun"]
        return run if run["JobRunState"] not in ("STARTING", "RUNNING") else None

    assert (second.exit_code, second.exception.__class__) == (1, SystemExit)
    assert "is already running" in second.stderr
    assert until(ended)["JobRunState"] == "SUCCEEDED"
