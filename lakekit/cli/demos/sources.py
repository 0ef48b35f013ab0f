"""Two more sources in the sandbox: an API of changes with deletions, and dropped files of DMS."""

import json
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from lakekit.aws.executions import Executions
from lakekit.cli import report
from lakekit.cli.output import lines
from lakekit.cli.readers import count_with_pyiceberg, open_table
from lakekit.cli.watch.live import Watched, watch
from lakekit.layout import result_key, watermark_key
from lakekit.project import product
from lakekit.sandbox import Sandbox, SandboxError
from lakekit.sandbox.connection import Connection, Execution
from lakekit.sandbox.template import SynthesisError
from lakekit.steps.jobs import MergeScd2Result

FOLDER = Path("build/demo-sources")
CONFIG = FOLDER / "config"
FEED, FILES = "time_zone_changes", "dms_orders"
ZONE = "Asia/Urumqi"
# From a dropped file to the start of its run.
START_SECONDS = 60


class DemoError(Exception):
    """A run failed, or a number is not what it must be."""


@dataclass(frozen=True)
class Load:
    """What one run is about, and what must come of it; `asks` is the watermark that it sends."""

    title: str
    says: str
    counts: dict[str, int]
    versions: int
    current: int
    asks: str = ""


FEED_LOADS = (
    Load(
        title="2021b",
        says="The first run asks from the start of the contract: 373 changes.",
        counts={"opened": 362, "closed": 24, "unchanged": 0, "deletes": 11},
        versions=362,
        current=338,
        asks="2020-01-01T00:00:00Z",
    ),
    Load(
        title="2023a",
        says="The next one asks for 103, the 20 of 2021b once more; 39 are deletions.",
        counts={"opened": 54, "closed": 81, "unchanged": 10, "deletes": 39},
        versions=416,
        current=311,
        asks="2021-09-24T23:23:00Z",
    ),
    Load(
        title="2025c",
        says="And for 51, the 27 of 2023a once more.",
        counts={"opened": 23, "closed": 22, "unchanged": 26, "deletes": 2},
        versions=439,
        current=312,
        asks="2023-03-22T19:39:33Z",
    ),
)
FILE_LOADS = (
    Load(
        title="LOAD00000001.csv",
        says="A full load: three orders without an operation.",
        counts={"opened": 3, "closed": 0, "unchanged": 0, "deletes": 0},
        versions=3,
        current=3,
    ),
    Load(
        title="20260101-0700000000.csv",
        says="Two updates of order 1, the deletion of order 2.",
        counts={"opened": 2, "closed": 3, "unchanged": 0, "deletes": 1},
        versions=5,
        current=2,
    ),
    Load(
        title="20260101-0800000000.csv",
        says="Order 4 is made and paid in one transaction, order 3 is deleted.",
        counts={"opened": 1, "closed": 1, "unchanged": 0, "deletes": 1},
        versions=6,
        current=2,
    ),
)


def main() -> int:
    """Run the demo; 0 if every run succeeded and every number is right."""
    console, began = Console(highlight=False), time.monotonic()
    try:
        run(console)
    except (DemoError, SandboxError, SynthesisError) as error:
        console.print(Text.assemble(("The demo failed:", "bold red"), f" {lines(str(error))}"))
        return 1
    seconds = time.monotonic() - began
    console.print(f"\n[bold green]Done in {seconds:.0f} s.[/] All numbers agree.")
    return 0


def run(console: Console) -> None:
    """Load both sources in one sandbox."""
    _configure()
    console.print(
        "[bold]Lakekit[/]: an API that says what has changed, and change files that are dropped."
    )
    with _server() as api, _sandbox(console, api.address) as sandbox:
        for load in FEED_LOADS:
            _feed(console, sandbox, api, load)
        _show_zone(console, sandbox)
        for load in FILE_LOADS:
            _drop(console, sandbox, load)
        _show_orders(console, sandbox)


def _configure() -> None:
    """Write the configuration of both examples, as a person would into a project."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(product.example() / "config/environments", CONFIG / "environments")
    for table in (FEED, FILES):
        example = product.example(table)
        source = (example / "source.yaml").read_text()
        name = next(x for x in source.splitlines() if x.startswith("source: "))[8:]
        for folder, file, text in (
            ("sources", name, source),
            ("contracts", table, (example / "contract.yaml").read_text()),
        ):
            (CONFIG / folder).mkdir(exist_ok=True)
            (CONFIG / folder / f"{file}.yaml").write_text(text)


def _server() -> Any:
    return product.example_api(FEED).ChangesServer()


@contextmanager
def _sandbox(console: Console, address: str) -> Iterator[Sandbox]:
    with console.status("starting the sandbox"):
        sandbox = Sandbox(
            root=product.root(),
            project=product.example(),
            folder=FOLDER / "sandbox",
            config=CONFIG,
            base_urls={"time_zone_api": address},
        )
        sandbox.__enter__()
    try:
        yield sandbox
    finally:
        sandbox.stop()


def _feed(console: Console, sandbox: Connection, api: Any, load: Load) -> None:
    """Let the API publish more releases, and load what is new."""
    console.print(Rule(f"[bold]load_source[/]  changes up to {load.title}", align="left"))
    console.print(f"  {load.says}")
    api.release, before = load.title, len(api.asked)
    execution = sandbox.start("load_source", {"source": "time_zone_api"})
    _finish(console, sandbox, execution, FEED, load)
    asked = api.asked[before:]
    since = {each["since"] for each in asked}
    reached = _document(sandbox, watermark_key("time_zone_api", FEED))["value"]
    console.print(f"  asked since {', '.join(since)}, {len(asked)} pages; watermark now {reached}")
    if since != {load.asks}:
        raise DemoError(f"{load.title}: the run asked since {since}, must be {load.asks}")


def _drop(console: Console, sandbox: Connection, load: Load) -> None:
    """Put a file into the inbox, and wait for the run that this starts."""
    console.print(Rule(f"[bold]inbox[/]  {load.title}", align="left"))
    console.print(f"  {load.says}")
    before = _executions(sandbox)
    sandbox.client("s3").upload_file(
        str(product.example(FILES) / "data" / load.title),
        sandbox.names["landing_bucket"],
        f"inbox/dms_shop/{FILES}/{load.title}",
    )
    _finish(console, sandbox, _started(sandbox, before), FILES, load)


def _started(sandbox: Connection, before: Mapping[str, str]) -> Execution:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        for name, arn in _executions(sandbox).items():
            if name not in before:
                return Execution(arn, name)
        time.sleep(0.2)
    raise DemoError(f"no run has started in {START_SECONDS} s")


def _executions(sandbox: Connection) -> dict[str, str]:
    machine = sandbox.names["machines"]["load_source"]
    found = sandbox.client("stepfunctions").list_executions(stateMachineArn=machine)["executions"]
    return {each["name"]: each["executionArn"] for each in found}


def _finish(
    console: Console, sandbox: Connection, execution: Execution, table: str, load: Load
) -> None:
    """Show a run to its end, and check what came of it."""
    machine = Executions(sandbox.names["machines"]["load_source"], sandbox.client("stepfunctions"))
    watched = Watched(machine, execution.name, logs=sandbox.folder / "logs")
    outcome = watch(watched, console=console)
    if outcome.status != "SUCCEEDED":
        raise DemoError(f"{load.title} ended as {outcome.status}")
    result = MergeScd2Result.model_validate(
        _document(sandbox, result_key(execution.name, "merge_scd2", table))
    )
    (merge,) = result.merges
    found = {name: getattr(merge, name) for name in load.counts}
    counts = count_with_pyiceberg(_table(sandbox, table))
    console.print(report.counts_line(found, counts.total, counts.current))
    if (found, counts.total, counts.current) != (load.counts, load.versions, load.current):
        raise DemoError(f"{load.title}: {found} and {counts}, must be {load}")


def _show_zone(console: Console, sandbox: Connection) -> None:
    console.print(Rule(f"[bold]history[/]  {ZONE}", align="left"))
    rows = _versions(sandbox, FEED, f"name = '{ZONE}'")
    console.print(Padding(report.history_table(rows, ("countries", "comments")), (0, 2)))


def _show_orders(console: Console, sandbox: Connection) -> None:
    console.print(Rule("[bold]history[/]  all orders", align="left"))
    shown = Table("id", "state", "amount", "from", "to", box=SIMPLE_HEAD, pad_edge=False)
    for row in _versions(sandbox, FILES, "id > 0"):
        until = row["_valid_to"]
        shown.add_row(
            str(row["id"]), row["state"], str(row["amount"]), f"{row['_valid_from']:%H:%M}",
            f"{until:%H:%M}" if until else Text("now", "bold green"),
        )  # fmt: skip
    console.print(Padding(shown, (0, 2)))


def _versions(sandbox: Connection, table: str, where: str) -> Sequence[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        _table(sandbox, table).scan(row_filter=where).to_arrow().to_pylist()
    )
    return sorted(rows, key=lambda row: (row.get("id", 0), row["_valid_from"]))


def _table(sandbox: Connection, table: str) -> Any:
    return open_table(sandbox.environment, f"{sandbox.names['database']}.{table}")


def _document(sandbox: Connection, key: str) -> dict[str, Any]:
    bucket = sandbox.names["landing_bucket"]
    body = sandbox.client("s3").get_object(Bucket=bucket, Key=key)["Body"]
    document: dict[str, Any] = json.loads(body.read())
    return document


if __name__ == "__main__":
    sys.exit(main())
