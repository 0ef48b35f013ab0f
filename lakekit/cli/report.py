"""What the demo shows: one rich renderable for each thing worth seeing."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from lakekit.batch import MergeResult
from lakekit.cli.readers import Counts
from lakekit.values import printable, to_text

GREY = "bright_black"


def number(value: int) -> str:
    """Return a count as a person reads it.

    >>> number(41730)
    '41,730'
    """
    return f"{value:,}"


def run_line(result: MergeResult, current: int) -> Text:
    """Say what a load did to the table."""
    line = Text("  ")
    line.append(f"opened {number(result.opened):>6}", style="green")
    line.append(f"   closed {number(result.closed):>6}", style="yellow")
    line.append(f"   unchanged {number(result.unchanged):>6}", style=GREY)
    line.append(f"   current {number(current):>6}", style="bold")
    return line


def counts_line(counts: Mapping[str, int], versions: int, current: int) -> Text:
    """Say what a run counted, and how many versions the table has then."""
    parts = [
        Text(f"  {name} {number(count)}", "bold" if count else GREY)
        for name, count in counts.items()
    ]
    table = f"  the table has {number(versions)} versions, {number(current)} of them current"
    return Text("\n").join([Text(" ").join(parts), Text(table)])


def history_table(versions: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Table:
    """Show the versions of one key, oldest first; what a version changed is bright."""
    table = Table("valid from", "valid to", *columns, box=box.SIMPLE_HEAD, pad_edge=False)
    before: Mapping[str, Any] = versions[0]
    for version in versions:
        until = version["_valid_to"]
        row: list[str | Text] = [
            f"{version['_valid_from']:%Y-%m-%d}",
            f"{until:%Y-%m-%d}" if until else Text("now", style="bold green"),
        ]
        for column in columns:
            value = "-" if version[column] is None else printable(to_text(version[column]))
            changed = version[column] != before[column]
            row.append(Text(value, style="bold yellow" if changed else GREY))
        table.add_row(*row)
        before = version
    return table


def journal_table(entries: Sequence[Mapping[str, Any]]) -> Table:
    """Show entries of a change journal."""
    table = Table(
        "name", "event time", "_op", "countries", "extracted", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for entry in entries:
        table.add_row(
            entry["name"],
            day(entry["_sequence"]),
            entry["_op"],
            entry["countries"] or "-",
            day(entry["_ingested_at"]),
        )
    return table


def changes_table(changes: Sequence[Mapping[str, Any]]) -> Table:
    """Show changes between two times."""
    table = Table("change", "at", "name", "countries", box=box.SIMPLE_HEAD, pad_edge=False)
    styles = {"inserted": "green", "deleted": "red", "updated": "yellow"}
    for row in changes:
        change, at = Text(row["_change"], style=styles[row["_change"]]), day(row["_changed_at"])
        sides = row["_changes"].get("countries", {})
        table.add_row(change, at, row["name"], " → ".join(sides.values()))
    return table


def day(time: str) -> str:
    """Return the date of a time.

    >>> day("2022-08-10T22:38:32")
    '2022-08-10'
    """
    return time.partition("T")[0]


def maintenance_table(before: Mapping[str, int], after: Mapping[str, int]) -> Table:
    """Show what maintenance found and left."""
    table = Table("", *(key.replace("_", " ") for key in before), box=box.SIMPLE_HEAD)
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("before", *(number(value) for value in before.values()))
    table.add_row("after", *(number(value) for value in after.values()), style="bold")
    return table


def readers_table(readers: Mapping[str, Counts]) -> Table:
    """Show what each engine counted."""
    table = Table("engine", "rows", "current", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, counts in readers.items():
        table.add_row(name, number(counts.total), number(counts.current))
    return table


def travel_line(table: str, first: MergeResult, then: Counts) -> Text:
    """Show the table as it was after a run."""
    line = Text("  ")
    line.append(number(then.total), style="bold")
    line.append(" rows after the first load: ")
    line.append(f"{table} at snapshot {first.snapshot_id}", style="cyan")
    return line
