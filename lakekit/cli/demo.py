"""`make demo`: three real releases through the whole suite here, and who can read them."""

import json
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from pyiceberg.table import Table
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from lakekit.aws.executions import Executions
from lakekit.batch import MergeResult
from lakekit.cli import report
from lakekit.cli.output import lines
from lakekit.cli.page.commands import write_report
from lakekit.cli.read.places import Where
from lakekit.cli.readers import (
    Counts,
    count_with_duckdb,
    count_with_pyiceberg,
    open_table,
)
from lakekit.cli.watch.live import Outcome, Watched, watch
from lakekit.layout import result_key
from lakekit.project import product
from lakekit.sandbox import Sandbox, SandboxError
from lakekit.sandbox.connection import Connection
from lakekit.sandbox.template import SynthesisError
from lakekit.steps.jobs import MergeScd2Result
from lakekit.warehouse.places import STATE

FOLDER = Path("build/demo")
CONFIG = FOLDER / "config"
PAGE = FOLDER / "report.html"
SOURCE, TABLE, KEY = "airports_api", "airports", "WIOS"
SHOWN = ("iata", "name", "city")
# The table is small; so low a threshold lets maintenance show what it does.
SMALL_FILES = ("small_files_threshold: 12", "small_files_threshold: 2")
# What three full extracts of these releases must give; see examples/airports/data/README.md.
TRUTH = {"20240806": (28_226, 0), "20250909": (814, 770), "20260905": (12_690, 12_662)}
TRUE_COUNTS = Counts(total=41_730, current=28_298)


class DemoError(Exception):
    """A run failed, or a number is not what it must be."""


def main() -> int:
    """Run the demo; 0 if every run succeeded and every number is right."""
    console = Console()
    try:
        summary = run(console)
    except (DemoError, SandboxError, SynthesisError) as error:
        console.print(Text.assemble(("The demo failed:", "bold red"), f" {lines(str(error))}"))
        return 1
    (FOLDER / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    console.print(f"\n[bold green]Done in {summary['seconds']:.0f} s.[/] All numbers agree."
                  f" They are in {FOLDER / 'summary.json'}.")  # fmt: skip
    console.print(f"The page of the sandbox, for a browser: [bold]{PAGE}[/]")
    return 0


def run(console: Console) -> dict[str, Any]:
    """Load, maintain, read; return the summary."""
    began = time.monotonic()
    shutil.copytree(product.example() / "config", CONFIG, dirs_exist_ok=True)
    example = product.example_api()
    with (
        example.AirportsServer(example.RELEASES[0]) as api,
        _sandbox(console, api.address, example.API_KEY) as sandbox,
    ):
        runs, results = [], []
        for release in example.RELEASES:
            console.print(Rule(f"[bold]load_source[/]  release {release}", align="left"))
            api.release = release
            results.append(_load(console, sandbox, release))
            current = count_with_pyiceberg(_table(sandbox)).current
            console.print(report.run_line(results[-1], current))
            runs.append(_checked(release, results[-1], current))
        _maintain(console, sandbox)
        _show_history(console, _table(sandbox))
        readers = _read(console, sandbox, results[0])
        _write_page(sandbox)
    return {
        "runs": runs,
        "total_rows": TRUE_COUNTS.total,
        "current_rows": TRUE_COUNTS.current,
        "readers": {name: counts.total for name, counts in readers.items()},
        "seconds": round(time.monotonic() - began, 1),
    }


@contextmanager
def _sandbox(console: Console, address: str, key: str) -> Iterator[Sandbox]:
    console.print(
        "[bold]Lakekit[/]: a REST API into an Iceberg table that keeps its history.\n"
        "[bright_black]State machines, functions and Spark jobs as they deploy to AWS, here.[/]"
    )
    with console.status("starting the sandbox"):
        sandbox = Sandbox(
            root=product.root(),
            project=product.example(),
            folder=FOLDER / "sandbox",
            config=CONFIG,
            base_urls={SOURCE: address},
            secrets=product.example_secrets(product.example(), key),
        )
        sandbox.__enter__()
    try:
        yield sandbox
    finally:
        sandbox.stop()


def _load(console: Console, sandbox: Connection, release: str) -> MergeResult:
    extraction_time = datetime.strptime(release, "%Y%m%d").strftime("%Y-%m-%dT00:00:00Z")
    request = {"source": SOURCE, "extraction_time": extraction_time}
    name = f"demo-{release}"
    sandbox.start("load_source", request, name=name)
    _succeed(_watch(console, sandbox, "load_source", name), f"load_source of {release}")
    (result,) = MergeScd2Result.model_validate(_result(sandbox, name, "merge_scd2")).merges
    return result


def _watch(console: Console, sandbox: Connection, machine: str, name: str) -> Outcome:
    executions = Executions(sandbox.names["machines"][machine], sandbox.client("stepfunctions"))
    return watch(Watched(executions, name, logs=sandbox.folder / "logs"), console=console)


def _maintain(console: Console, sandbox: Connection) -> None:
    console.print(Rule("[bold]maintain_tables[/]", align="left"))
    before = _health(_table(sandbox))
    contract = CONFIG / "contracts" / f"{TABLE}.yaml"
    contract.write_text(contract.read_text().replace(*SMALL_FILES))
    sandbox.start("maintain_tables", {"source": SOURCE}, name="demo-maintenance")
    _succeed(_watch(console, sandbox, "maintain_tables", "demo-maintenance"), "maintain_tables")
    done = _result(sandbox, "demo-maintenance", "maintain_tables")["maintained"][0]["actions"]
    if "rewrite_data_files" not in done:
        raise DemoError(f"maintenance did {done}, must compact")
    console.print(f"  [green]{', '.join(done)}[/]")
    console.print(report.maintenance_table(before, _health(_table(sandbox))))


def _show_history(console: Console, table: Table) -> None:
    console.print(Rule(f"[bold]history[/]  one airport, {KEY}", align="left"))
    rows = table.scan(row_filter=f"icao = '{KEY}'").to_arrow().to_pylist()
    versions = sorted(rows, key=lambda row: row["_valid_from"])
    console.print(Padding(report.history_table(versions, SHOWN), (0, 2)))


def _read(console: Console, sandbox: Connection, first: MergeResult) -> dict[str, Counts]:
    console.print(Rule("[bold]readers[/]  one table, two engines", align="left"))
    table = _table(sandbox)
    with console.status("counting"):
        readers = {
            "pyiceberg": count_with_pyiceberg(table),
            "duckdb": count_with_duckdb(sandbox.environment, table.metadata_location),
        }
        then = count_with_pyiceberg(table, first.snapshot_id)
    console.print(Padding(report.readers_table(readers), (0, 2)))
    console.print(report.travel_line(TABLE, first, then))
    for reader, counts in readers.items():
        if counts != TRUE_COUNTS:
            raise DemoError(f"{reader} reads {counts}, must be {TRUE_COUNTS}")
    if then != Counts(first.opened, first.opened):
        raise DemoError(f"the first load reads {then}, must be {first.opened}, all current")
    return readers


def _write_page(sandbox: Sandbox) -> None:
    """Write the page of the sandbox, which the command finds by its state file."""
    state = FOLDER / "sandbox" / STATE
    state.write_text(json.dumps({"endpoint": sandbox.endpoint}))
    try:
        write_report(Where(None, True, None, FOLDER / "sandbox"), PAGE)
    finally:
        state.unlink()


def _health(table: Table) -> dict[str, int]:
    files = table.inspect.files().select(["content", "file_size_in_bytes"]).to_pylist()
    return {
        "data_files": sum(file["content"] == 0 for file in files),
        "delete_files": sum(file["content"] != 0 for file in files),
        "kilobytes": sum(file["file_size_in_bytes"] for file in files) // 1024,
        "snapshots": len(table.snapshots()),
    }


def _checked(release: str, result: MergeResult, current: int) -> dict[str, Any]:
    found = (result.opened, result.closed)
    if found != TRUTH[release]:
        raise DemoError(f"{release} opened and closed {found}, must be {TRUTH[release]}")
    return {"release": release, "opened": found[0], "closed": found[1], "current": current}


def _table(sandbox: Connection) -> Table:
    return open_table(sandbox.environment, f"{sandbox.names['database']}.{TABLE}")


def _result(sandbox: Connection, run_id: str, step: str) -> dict[str, Any]:
    key = result_key(run_id, step, TABLE)
    body = sandbox.client("s3").get_object(Bucket=sandbox.names["landing_bucket"], Key=key)["Body"]
    document: dict[str, Any] = json.loads(body.read())
    return document


def _succeed(outcome: Any, what: str) -> None:
    if outcome.status != "SUCCEEDED":
        raise DemoError(f"{what} ended as {outcome.status}")


if __name__ == "__main__":
    sys.exit(main())
