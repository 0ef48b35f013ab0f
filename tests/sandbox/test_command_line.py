"""The command line as a person runs it, in processes of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog

DATA = "examples/airports/data"
CONTRACT = "examples/airports/config/contracts/airports.yaml"


def lakekit(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lakekit"), *arguments]
    elsewhere = {**os.environ, "TZ": "America/New_York", **environment}
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=300, check=False, env=elsewhere
    )


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    return str(tmp_path_factory.mktemp("cli") / "warehouse")


@pytest.fixture(scope="module")
def merged(warehouse):
    first = ("--input", f"{DATA}/20240806.ndjson.gz", "--at", "2024-08-06T00:00:00Z")
    second = ("--input", f"{DATA}/20250909.ndjson.gz", "--at", "2025-09-09T00:00:00Z")
    options = ("--contract", CONTRACT, "--warehouse", warehouse, "--json")
    return lakekit("merge", *options, *first, *second)


def test_merge_prints_one_json_object_per_run_and_nothing_else(merged):
    runs = [json.loads(line) for line in merged.stdout.splitlines()]

    assert (merged.returncode, merged.stderr) == (0, "")
    assert [(run["opened"], run["closed"]) for run in runs] == [(28226, 0), (814, 770)]
    assert list(runs[0]) == [
        "table", "run_id", "opened", "closed", "deleted", "unchanged", "duplicates",
        "quarantined", "superseded", "deletes", "restored", "snapshot_id", "committed",
    ]  # fmt: skip


def test_sql_and_history_read_what_was_merged(merged, warehouse):
    query = (
        "SELECT count(*) AS n, count_if(_is_current) AS current, max(_valid_from) AS last, "
        "CAST(max(_valid_from) AS timestamp) AS same FROM airports"
    )
    counted = lakekit("sql", query, "--warehouse", warehouse, "--format", "ndjson")
    versions = lakekit(
        "history", "airports", "--key", "icao=EHAM", "--warehouse", warehouse, "--format", "csv"
    )

    last = "2025-09-09T00:00:00"
    assert json.loads(counted.stdout) == {"n": 29040, "current": 28270, "last": last, "same": last}
    assert versions.stdout.splitlines()[1].startswith("2024-08-06T00:00:00,,EHAM,AMS,Amsterdam")
    assert "_line_hash" not in versions.stdout


def test_a_second_engine_reads_the_same_rows(merged, warehouse):
    catalog = SqlCatalog("lake", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=warehouse)
    try:
        table = catalog.load_table("local.airports")
        assert table.scan().count() == 29040
        assert table.scan(row_filter="_is_current = true").count() == 28270
    finally:
        catalog.engine.dispose()


def test_check_says_ok_and_reports_faults_with_exit_code_1(tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text(Path(CONTRACT).read_text().replace("keys: [icao]", "keys: [nope]"))

    assert lakekit("check", CONTRACT).stdout == f"{CONTRACT}: ok\n"
    broken = lakekit("check", str(bad))
    assert (broken.returncode, "'nope' is not a column" in broken.stderr) == (1, True)


def test_what_is_printed_is_utf_8_in_any_locale(tmp_path):
    file = tmp_path / "zoë [b]\x1b[31m.yaml"
    file.write_text(Path(CONTRACT).read_text())

    done = lakekit("check", str(file), PYTHONIOENCODING="ascii")

    assert done.stdout == f"{tmp_path}/zoë [b]\\x1b[31m.yaml: ok\n", done.stderr


def test_a_query_without_a_warehouse_says_what_to_do(tmp_path):
    done = lakekit("sql", "SELECT 1", "--warehouse", str(tmp_path / "none"))

    assert done.returncode == 1
    assert "`lakekit run` or `lakekit merge` makes one" in done.stderr
