"""What each run did to a table, by the snapshots that the table still has.

A version that is opened adds a row. One that is closed is no longer current. So the rows before and
after a commit say how many there were of each, wherever the table is.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from lakekit import layout
from lakekit.batch import naive_utc
from lakekit.duckdb.reader import Reader
from lakekit.duckdb.tables import Table
from lakekit.errors import SchemaMismatchError
from lakekit.runs.table_metadata import Metadata, main_ancestry
from lakekit.table_properties import EXTRACTION_TIME, runs_in
from lakekit.warehouse.rows import Rows, made

COLUMNS = ("committed_at", "extraction_time", "runs", "opened", "closed", "quarantined")


def runs_of(reader: Reader, name: str) -> Rows:
    """Return a row for each commit of a run; see `Table.runs`."""
    table = reader.table(name)
    if "_is_current" not in table.types:
        raise SchemaMismatchError(f"{table.name}: no history table; it has no _is_current")
    chain = list(reversed(main_ancestry(table.metadata)))
    needed = [each["snapshot-id"] for each in chain]
    counts = dict(zip(needed, reader.count_at(table, needed), strict=True))
    rejected = _rejected(reader, table)
    return made(COLUMNS, list(_rows(chain, counts, rejected)))


def _rows(
    chain: list[Metadata], counts: Mapping[int, tuple[int, int]], rejected: Mapping[str, int]
) -> Iterator[tuple[Any, ...]]:
    for runs, commits in groupby(chain, lambda each: tuple(runs_in(each.get("summary", {})))):
        if not runs:
            continue
        first, *_, last = [*commits] * 2
        opened, closed = _moved(first, last, counts)
        when = last["summary"].get(EXTRACTION_TIME)
        yield (
            datetime.fromtimestamp(last["timestamp-ms"] // 1000, UTC).replace(tzinfo=None),
            naive_utc(datetime.fromisoformat(when)) if when else None,
            list(runs), opened, closed, sum(rejected.get(run, 0) for run in runs),
        )  # fmt: skip


def _moved(
    first: Metadata, last: Metadata, counts: Mapping[int, tuple[int, int]]
) -> tuple[int | None, int | None]:
    """Return how many versions some commits opened and closed, if the snapshot before is there."""
    before = first.get("parent-snapshot-id")
    old = (0, 0) if before is None else counts.get(before)
    if old is None:
        return None, None
    rows, current = counts[last["snapshot-id"]]
    opened = rows - old[0]
    return opened, opened - (current - old[1])


def _rejected(reader: Reader, table: Table) -> dict[str, int]:
    """Return the records that each run put into the quarantine of a table."""
    name = layout.quarantine_table(table.name)
    if name not in reader.locations:
        return {}
    found: dict[str, int] = {}
    for each in main_ancestry(reader.table(name).metadata):
        for run in runs_in(each.get("summary", {})):
            added = int(each["summary"].get("added-records", 0))
            found[run] = found.get(run, 0) + added
    return found
