"""What a person reads of a run: while it works, when it has ended, and in a sandbox's terminal."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
import typer
from moto import mock_aws

from lakekit import layout
from lakekit.aws.place import Place
from lakekit.cli import sandbox
from lakekit.cli.folder_lock import held
from lakekit.cli.watch import show
from lakekit.cli.watch.feed import Feed
from lakekit.cli.watch.texts import maintenance_lines, outcome_lines, progress_lines
from lakekit.errors import InvalidStepInputError
from lakekit.health import Health, Maintained
from lakekit.operate.run_report import EndpointReport, Failed, RunReport, TableReport
from lakekit.ports import ExecutionDetails
from lakekit.project.folder import Project
from lakekit.steps.jobs import MaintainTablesResult
from tests.unit.operate.kit import Log, execution
from tests.unit.runs.kit import begun, world

MANIFEST = "raw/shop/orders/20260101_120000/manifest.json"


def report(*tables: TableReport, **changes: Any) -> RunReport:
    return RunReport(run_id="r", source="shop", tables=tables, **changes)


@pytest.mark.parametrize(
    ("most", "line"),
    [
        ({}, "extracting orders: 12 pages, 1,200 rows"),
        ({"most_pages": 29}, "extracting orders: 12 of 29 pages, 1,200 rows, 17 pages left"),
        ({"most_rows": 2000}, "extracting orders: 12 pages, 1,200 of 2,000 rows, 800 rows left"),
    ],
)
def test_an_extraction_says_pages_rows_and_what_is_left(most: dict[str, int], line: str) -> None:
    endpoint = EndpointReport(endpoint="orders", pages=12, rows=1200, **most)

    assert progress_lines(report(endpoints=(endpoint,))) == [line]


def test_a_merge_says_what_is_left_until_it_is_done() -> None:
    table = TableReport(table="orders", landings=3, merged=1, rows=5000, opened=1000)

    assert progress_lines(report(table)) == ["merging orders: 2 landings with 4,000 rows left"]
    assert progress_lines(report(table.model_copy(update={"done": True}))) == []


def test_a_run_that_has_ended_says_what_each_table_did_took_and_cost() -> None:
    orders = TableReport(
        table="orders", landings=1, merged=1, created=True, opened=9017, closed=12, deleted=3,
        unchanged=8, quarantined=2, snapshot_id=7, seconds=75, dpu_seconds=150, cost_usd=0.018333,
        done=True,
    )  # fmt: skip
    clients = TableReport(table="clients", landings=1, merged=1, unchanged=4, done=True)
    endpoint = EndpointReport(endpoint="orders", pages=29, rows=28226, done=True)

    lines = outcome_lines(report(orders, clients, endpoints=(endpoint,)), "--sandbox")

    assert lines == [
        "orders: 29 pages with 28,226 rows landed",
        "orders: created; opened 9,017, closed 12 (3 deleted), unchanged 8, quarantined 2",
        "  1 min 15 s, 150 DPU seconds, $0.0183; snapshot 7",
        "  rejected records are in orders_quarantine",
        "clients: opened 0, closed 0, unchanged 4, quarantined 0",
        "  nothing to commit",
        "Glue: 150 DPU seconds, $0.0183 at prices of 2026-11-28",
    ]
    assert max(map(len, lines)) <= 80


def test_a_landing_that_waits_for_a_person_comes_with_its_commands() -> None:
    failed = Failed(error="TooManyDeletedError", cause="7 of 9 keys", landing=MANIFEST)
    orders = TableReport(table="orders", landings=1, failed=failed)

    lines = outcome_lines(report(orders), "--environment dev")

    assert lines == [
        "orders: failed: TooManyDeletedError: 7 of 9 keys",
        "  this landing waits for you, and later runs leave it out:",
        "  lakekit landings orders 20260101_120000 --environment dev",
        '  lakekit reject orders 20260101_120000 --environment dev --reason "…"',
    ]


def test_a_run_that_changed_nothing_says_so_and_who_has_what_it_left() -> None:
    assert outcome_lines(report(), "") == ["nothing was pending: no table has changed"]
    (deferred,) = outcome_lines(report(deferred=("orders",)), "")
    assert deferred.startswith("orders: another run or maintenance holds it")
    (waiting,) = outcome_lines(report(waiting=("orders",)), "--sandbox")
    assert waiting == "orders: waits; see lakekit status --sandbox"


def test_maintenance_says_what_it_did_or_that_there_was_nothing_to_do() -> None:
    sick = Health(
        data_files=9, small_files=8, delete_files=7, manifests=6, snapshots=5, expirable=4
    )
    well = sick.model_copy(update={"data_files": 1, "delete_files": 0, "snapshots": 2})
    results = [
        MaintainTablesResult(table="a", maintained=(
            Maintained(table="lake.db.a", actions=("rewrite_data_files",), before=sick, after=well),
            Maintained(table="lake.db.a_journal", actions=(), before=well, after=well),
        )),
        MaintainTablesResult(table="b", busy="held by run r2"),
    ]  # fmt: skip

    text = " ".join(maintenance_lines(results))

    assert "a: rewrite_data_files; 9 → 1 data files, 7 → 0 delete files, 5 → 2" in text
    assert "a_journal: healthy, nothing to do" in text
    assert "b: left alone, held by run r2" in text


@pytest.fixture
def feed(tmp_path: Path) -> tuple[Feed, Any, Log, Path]:
    story, log = world(), Log()
    log.known["file-1"] = ExecutionDetails({"source": "shop", "origin": "file"}, "E", "why")
    place = Place(story.flow, log, "ann", {})
    return Feed(place, tmp_path / "route_file.log", "--sandbox"), story.store, log, tmp_path


def test_a_file_at_the_inbox_is_seen_once_and_then_where_it_landed(feed: Any) -> None:
    found, store, _, _ = feed
    etag = store.put("inbox/shop/orders/day.csv", b"id\n1\n")

    arrived = [*found.news()]
    store.put(layout.routed_key("inbox/shop/orders/day.csv", etag), MANIFEST.encode())
    landed = [*found.news()]

    assert arrived == ["file inbox/shop/orders/day.csv: 5 bytes arrived"]
    assert landed == ["file inbox/shop/orders/day.csv: landed as orders 20260101_120000"]
    assert [*found.news()] == []


def test_a_file_that_is_refused_says_why_though_it_is_tried_again(feed: Any) -> None:
    found, _, _, folder = feed
    line = {"message": "not routed", "key": "inbox/shop/orders/x.csv",
            "error": "SourceShapeError", "cause": "the header lacks id"}  # fmt: skip
    (folder / "route_file.log").write_text(f"{json.dumps(line)}\nother\n{json.dumps(line)}\n")

    assert [*found.news()] == [
        "file inbox/shop/orders/x.csv: refused: SourceShapeError: the header lacks id"
    ]
    assert [*found.news()] == []


def test_a_run_is_seen_when_it_begins_and_when_it_ends(feed: Any) -> None:
    found, store, log, _ = feed
    begun(store, run_id="file-1")
    log.runs = (execution("file-1", "RUNNING"),)

    began = [*found.news()]
    running = found.running
    log.runs = (execution("file-1", "FAILED"),)
    ended = [*found.news()]

    assert began == ["run file-1: shop began, started by a file"]
    assert running == ["file-1"]
    assert ended[-2:] == ["run file-1: failed in 1 min 30 s", "  E: why"]
    assert found.running == []


def test_a_second_sandbox_in_a_folder_is_refused_by_the_name_of_the_first(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from lakekit.cli.folder_lock import held\n"
        "sys.argv = ['/bin/lakekit', 'sandbox', 'up']\n"
        "with held(Path(sys.argv.pop() and sys.stdin.readline().strip())):\n"
        "    print('held', flush=True); sys.stdin.readline()"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        other.stdin.write(f"{tmp_path}\n")
        other.stdin.flush()
        other.stdout.readline()
        with pytest.raises(InvalidStepInputError) as refused, held(tmp_path):
            pass
        other.stdin.close()

    assert f"process {other.pid} (`lakekit sandbox`, since " in str(refused.value)
    with held(tmp_path):  # it ended with its process
        pass


def test_what_cannot_be_read_is_said_once_and_ends_nothing(
    feed: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    found, store, log, _ = feed
    store.put(layout.run_key("file-1"), b"broken")
    log.runs = (execution("file-1", "RUNNING"),)

    sandbox._say_news(found)
    sandbox._say_news(found)

    assert capsys.readouterr().err.count("what is new cannot be read: runs/file-1/run.json") == 1


def test_who_watches_no_longer_reads_that_the_run_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(show, "watch", interrupted)
    machines: Any = {"load_source": None}
    place = Place(world().flow, Log(), "ann", machines)

    with pytest.raises(typer.Exit) as end:
        show.show_run(place, "load_source", "r", where="--sandbox")

    assert end.value.exit_code == 130
    assert capsys.readouterr().err == (
        "run r goes on. To watch it again:\n  lakekit runs watch r --sandbox\n"
    )


def test_an_address_of_a_source_that_there_is_not_is_refused(tmp_path: Path) -> None:
    sources = tmp_path / "config/sources"
    sources.mkdir(parents=True)
    (sources / "shop_api.yaml").write_text("source: shop_api\nbase_url: https://shop.example\n")
    project = Project(tmp_path)

    sandbox._refuse_unknown({"shop_api": "http://127.0.0.1:9000"}, project)
    for name, hint in (("shop", "did you mean shop_api"), ("x", "there are shop_api")):
        with pytest.raises(InvalidStepInputError, match=f"{name}: there is no such source; {hint}"):
            sandbox._refuse_unknown({name: "http://127.0.0.1:9000"}, project)


def test_a_secret_of_a_sandbox_that_runs_is_made_and_then_changed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        client: Any = boto3.client("secretsmanager", "eu-west-1")
        connection = SimpleNamespace(client=lambda _: client)
        monkeypatch.setattr("lakekit.cli.project.place.connect_sandbox", lambda *_: connection)
        sandbox.secret("a/b=first")
        sandbox.secret("a/b=c=d")
        value = client.get_secret_value(SecretId="a/b")["SecretString"]

    assert value == "c=d"
    assert capsys.readouterr().out == "secret a/b: made\nsecret a/b: changed\n"
