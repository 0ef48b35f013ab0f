"""`make demo-changes`: change files that arrive late, again and corrected, and their history."""

import io
import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule

from lakekit.cli import report
from lakekit.cli.arguments import take
from lakekit.cli.main import app
from lakekit.errors import LakekitError
from lakekit.local.warehouse import opened
from lakekit.project import product

FOLDER = Path("build/demo-changes")
WAREHOUSE = FOLDER / "warehouse"
TABLE, IN_ORDER = "time_zones", "time_zones_in_order"
AUGUST = ("2022-08-01T00:00:00Z", "2022-09-01T00:00:00Z")
SHOWN = ("countries", "comments")

Rows = list[dict[str, Any]]


class DemoError(Exception):
    """A number is not what it must be."""


@dataclass(frozen=True)
class Delivery:
    """The files of one run, when they were extracted, and what must come of them."""

    title: str
    says: str
    at: str
    files: tuple[str, ...]
    counts: dict[str, int]
    versions: int
    current: int


def counts(**given: int) -> dict[str, int]:
    """Return the counts of a run that the demo shows; those that are not given are 0.

    Example:
        >>> counts(opened=1)
        {'opened': 1, 'closed': 0, 'restored': 0, 'unchanged': 0, 'deletes': 0}
    """
    return dict.fromkeys(("opened", "closed", "restored", "unchanged", "deletes"), 0) | given


FIRST = Delivery(
    title="2020a",
    says="The first release is delivered whole: 348 zones.",
    at="2026-11-02",
    files=("2020a",),
    counts=counts(opened=348),
    versions=348,
    current=348,
)
ON_TIME = Delivery(
    title="2020e and 2021b",
    says="Each file holds what its release has changed: 14 zones; 11 are deleted.",
    at="2026-11-03",
    files=("2020e", "2021b"),
    counts=counts(opened=14, closed=24, deletes=11),
    versions=362,
    current=338,
)
WITH_A_GAP = Delivery(
    title="2022d to 2026e, without 2022b",
    says="Two records repeat what the table has. No version shows them.",
    at="2026-11-04",
    files=(
        "2022d", "2022f", "2022g", "2023a", "2023d", "2024b", "2025a", "2025b", "2025c", "2026b",
        "2026c", "2026d", "2026e",
    ),
    counts=counts(opened=64, closed=69, unchanged=2, deletes=8),
    versions=426,
    current=333,
)  # fmt: skip
LATE = Delivery(
    title="2022b, late",
    says="11 of its 37 records are older than the newest one of their zone.",
    at="2026-11-05",
    files=("2022b",),
    counts=counts(opened=15, closed=38, restored=4, deletes=22),
    versions=443,
    current=312,
)
AGAIN = Delivery(
    title="2022b again",
    says="The same records in another extract: nothing to commit.",
    at="2026-11-06",
    files=("2022b",),
    counts=counts(unchanged=15, deletes=22),
    versions=443,
    current=312,
)
CORRECTED = Delivery(
    title="a correction of 2020a",
    says="The same zone at the same time, in a later extract, with another place.",
    at="2026-11-09",
    files=("correction",),
    counts=counts(opened=1),
    versions=442,
    current=312,
)
RUNS = (FIRST, ON_TIME, WITH_A_GAP, LATE, AGAIN, CORRECTED)
BY_RELEASE = (*FIRST.files, *ON_TIME.files, *LATE.files, *WITH_A_GAP.files, *CORRECTED.files)


def main() -> int:
    """Run the demo; 0 if every run succeeded and every number is right."""
    # As the command line does: PySpark hands over times in the zone of its process.
    os.environ["TZ"] = "UTC"
    time.tzset()
    # Commands print into a text of their own meanwhile.
    console, began = Console(file=sys.stdout, highlight=False), time.monotonic()
    try:
        run(console)
    except (DemoError, LakekitError) as error:
        console.print(f"[bold red]The demo failed:[/] {error}")
        return 1
    console.print(f"\n[bold green]Done in {time.monotonic() - began:.0f} s.[/] All numbers agree."
                  f" The warehouse is {WAREHOUSE}.")  # fmt: skip
    return 0


def run(console: Console) -> None:
    """Merge the deliveries one after the other, and ask the table in between."""
    console.print(
        "[bold]Lakekit[/]: change files that arrive late, and the history that they leave."
    )
    console.print(
        "[bright_black]examples/time_zones/README.md says why each run does what it does.[/]"
    )
    start_spark()
    deliver(console, FIRST)
    deliver(console, ON_TIME)
    deliver(console, WITH_A_GAP)
    show_zones(console)
    show_changes(console)
    deliver(console, LATE)
    show_zones(console)
    show_changes(console)
    deliver(console, AGAIN)
    show_history(console, "America/Dawson_Creek", ("coordinates",))
    deliver(console, CORRECTED)
    show_history(console, "America/Dawson_Creek", ("coordinates",))
    deliver_in_order(console)


def start_spark() -> None:
    """Make an empty warehouse."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with opened(WAREHOUSE, make=True):
        pass


def deliver(console: Console, delivery: Delivery) -> None:
    """Merge the files of a delivery, and check what comes of them."""
    console.print(Rule(f"[bold]run {RUNS.index(delivery) + 1}[/]  {delivery.title}", align="left"))
    console.print(f"  {delivery.says}")
    with console.status("merging"):
        found = merge(example() / "contract.yaml", delivery.at, delivery.files)
        (table,) = ask("sql", f"SELECT count(*) AS n, count_if(_is_current) AS c FROM {TABLE}")
    console.print(report.counts_line(found, table["n"], table["c"]))
    expected = (delivery.counts, delivery.versions, delivery.current)
    if (found, table["n"], table["c"]) != expected:
        raise DemoError(f"{delivery.title}: {found} and {table}, must be {expected}")


def deliver_in_order(console: Console) -> None:
    """Merge all files in the order of their releases into a table of its own, and compare."""
    console.print(Rule("[bold]all files[/]  in the order of their releases", align="left"))
    contract = FOLDER / f"{IN_ORDER}.yaml"
    text = (example() / "contract.yaml").read_text()
    contract.write_text(text.replace(f"contract: {TABLE}", f"contract: {IN_ORDER}"))
    with console.status("merging"):
        merge(contract, CORRECTED.at, BY_RELEASE)
        one, other = read_versions(TABLE), read_versions(IN_ORDER)
    if one != other:
        raise DemoError("the order of the deliveries has changed the history")
    console.print(f"  One run into another table: the same {len(one)} versions.")


def show_history(console: Console, zone: str, columns: Sequence[str] = SHOWN) -> None:
    """Show the versions of a zone."""
    versions = ask("history", TABLE, "--key", f"name={zone}")
    _show(console, f"[bold]history[/]  {zone}", report.history_table(dated(versions), columns))


def show_zones(console: Console) -> None:
    """Show the two zones that the late file changes most, and their entries in the journal."""
    show_history(console, "Asia/Urumqi")
    show_history(console, "Antarctica/Vostok")
    query = (
        f"SELECT * FROM {TABLE}_journal WHERE name IN ('Antarctica/Vostok', 'Asia/Urumqi') "
        "ORDER BY name DESC, _sequence"
    )
    title = "[bold]journal[/]  of these two zones"
    _show(console, title, report.journal_table(ask("sql", query)))


def show_changes(console: Console) -> None:
    """Show what changed in August 2022, with the rows of Europe."""
    found = ask("changes", TABLE, *AUGUST)
    europe = [row for row in found if row["name"].startswith("Europe/")]
    title = f"[bold]changes[/]  August 2022: {len(found)}"
    if found:
        _show(console, f"{title}, in Europe {len(europe)}", report.changes_table(europe))
    else:
        console.print(Rule(title, align="left"))


def example() -> Path:
    """Return the folder with the contract and the data."""
    return product.root() / "examples/time_zones"


def merge(contract: Path, at: str, files: Sequence[str]) -> dict[str, int]:
    """Merge data files by `lakekit merge`, and return the counts that the demo shows."""
    inputs = [str(example() / f"data/{file}.ndjson") for file in files]
    (result,) = ask(
        "merge", "--contract", str(contract), "--input", *inputs, "--at", f"{at}T06:00:00Z",
        output="--json",
    )  # fmt: skip
    return {name: result[name] for name in counts()}


def read_versions(table: str) -> Rows:
    """Return what each version says, and when."""
    columns = "name, countries, coordinates, comments, _valid_from, _valid_to"
    return ask("sql", f"SELECT {columns} FROM {table} ORDER BY name, _valid_from")


def ask(*arguments: str, output: str = "--format=ndjson") -> Rows:
    """Run a command of `lakekit` on the warehouse; return the JSON objects that it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        words = take([*arguments, output, "--warehouse", str(WAREHOUSE)])
        app(args=words, prog_name="lakekit", standalone_mode=False)
    return [json.loads(line) for line in printed.getvalue().splitlines()]


def dated(versions: Rows) -> Rows:
    """Return versions with times in place of texts."""

    def time_of(text: str | None) -> datetime | None:
        return datetime.fromisoformat(text) if text else None

    return [
        {**row, **{name: time_of(row[name]) for name in ("_valid_from", "_valid_to")}}
        for row in versions
    ]


def _show(console: Console, title: str, body: RenderableType) -> None:
    console.print(Rule(title, align="left"))
    console.print(Padding(body, (0, 2)))


if __name__ == "__main__":
    sys.exit(main())
