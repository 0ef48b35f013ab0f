"""The page of a place: its tables read by DuckDB, and what its deployment says of itself."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from lakekit import layout
from lakekit.duckdb.reader import Counts, Reader
from lakekit.duckdb.tables import Table
from lakekit.page.metadata import added_columns, files_of, snapshots_of
from lakekit.page.model import Lineage, Load, Page, PageColumn, PageRun, PageTable, Rejects
from lakekit.page.needs import all_needs
from lakekit.page.operated import Operated
from lakekit.page.rows import (
    MOST_COMPARED,
    OfRows,
    ask_rejected,
    ask_rejects,
    ask_rows,
    shown_columns,
)
from lakekit.runs.table_metadata import main_ancestry
from lakekit.table_properties import EXTRACTION_TIME, runs_in

_ATTACHED = ("journal", "quarantine")
_MOST_LOCAL_RUNS = 50


def gather_page(
    reader: Reader,
    place: str,
    option: str,
    now: datetime,
    operated: Operated | None = None,
    lineage: Mapping[str, Lineage] | None = None,
) -> Page:
    """Return the page of a place.

    Args:
        reader: Of its tables.
        place: Its name.
        option: By which commands name it.
        now: The time.
        operated: What the deployment says of itself, or the runs of a local warehouse.
        lineage: Where the tables of a local warehouse come from; its commits are runs, too.
    """
    known = reader.tables()
    counts = dict(zip((each.name for each in known), reader.count(known), strict=True))
    names = set(counts)
    found = [
        _Gathered(reader, each, counts[each.name], names, operated).table()
        for each in known
        if each.kind not in _ATTACHED or _owner(each.name) not in names
    ]
    origins = {**(operated.lineage if operated else {}), **(lineage or {})}
    tables = [
        each.model_copy(update={"lineage": origins.get(each.name, Lineage())}) for each in found
    ]
    runs = list(operated.runs) if operated else []
    runs = runs if lineage is None else _with_commits(runs, _runs_of(known, tables))
    return Page(
        place=place,
        option=option,
        written_at=now,
        tables=tuple(tables),
        runs=tuple(runs),
        needs=all_needs(option, now, tables, runs, operated),
        notes=tuple(_notes(tables)),
    )


class _Gathered:
    """One table, with its quarantine."""

    def __init__(
        self,
        reader: Reader,
        table: Table,
        counts: Counts,
        names: set[str],
        operated: Operated | None,
    ) -> None:
        self._reader, self._table, self._counts = reader, table, counts
        self._operated = operated
        own = (layout.journal_table(table.name), layout.quarantine_table(table.name))
        self._attached = tuple(each for each in own if each in names)
        self._quarantine = own[1] if own[1] in names and _holds_rejects(reader, own[1]) else None

    def table(self) -> PageTable:
        table = self._table
        rows = ask_rows(self._reader, table, self._counts.rows)
        loaded_at = self._loaded_at()
        return PageTable(
            name=table.name,
            kind=table.kind,
            description=table.comment,
            keys=table.keys,
            sequence_by=table.contract.sequence_by if table.contract else None,
            partition=tuple(table.partition),
            rows=self._counts.rows,
            current=self._counts.current,
            loaded_at=loaded_at,
            stale=self._is_stale(),
            loads=self._loads(rows),
            files=files_of(table),
            columns=self._columns(rows),
            snapshots=snapshots_of(table),
            histories=rows.histories,
            rejects=self._rejects(),
            attached=self._attached,
        )

    def _loaded_at(self) -> datetime | None:
        """Return when it was loaded: a load that changed nothing has committed nothing.

        Maintenance commits too. Only a table that no run has written is as old as its last commit.
        """
        times = [each.at for each in snapshots_of(self._table) if each.runs]
        changed = self._table.changed_at
        if changed and not times:
            times.append(changed.replace(tzinfo=UTC))
        if self._operated and self._table.name in self._operated.loaded_at:
            times.append(self._operated.loaded_at[self._table.name])
        return max(times, default=None)

    def _is_stale(self) -> bool:
        watched = self._operated.watched if self._operated else None
        stale = {each.rpartition(".")[2] for each in watched.stale} if watched else set()
        return self._table.name in stale

    def _loads(self, rows: OfRows) -> tuple[Load, ...]:
        """Return what the runs have published; of a place without such, what the rows show."""
        published = self._operated.loads.get(self._table.name) if self._operated else None
        if published:
            return published[-30:]
        rejected = ask_rejected(self._reader, self._quarantine) if self._quarantine else {}
        known = {each.at for each in rows.loads}
        loads = [
            each.model_copy(update={"quarantined": rejected.get(each.at, 0)}) for each in rows.loads
        ]
        loads += [Load(at=at, quarantined=n) for at, n in rejected.items() if at not in known]
        return tuple(sorted(loads, key=lambda each: each.at))

    def _rejects(self) -> tuple[Rejects, ...]:
        return ask_rejects(self._reader, self._quarantine) if self._quarantine else ()

    def _columns(self, rows: OfRows) -> tuple[PageColumn, ...]:
        table, added = self._table, added_columns(self._table)
        shown = set(shown_columns(table))
        return tuple(
            _column(table, each.name, each.type, each.description, rows, added)
            for each in table.columns
            if each.name in shown
        )


def _column(
    table: Table,
    name: str,
    kind: str,
    description: str,
    rows: OfRows,
    added: Mapping[str, datetime],
) -> PageColumn:
    found = rows.columns.get(name)
    sequence = table.contract.sequence_by if table.contract else None
    return PageColumn(
        name=name,
        type=kind,
        role="key" if name in table.keys else "sequence" if name == sequence else None,
        description=description,
        nulls=found.nulls if found else None,
        changes=found.changes if found else None,
        changed_at=found.changed_at if found else None,
        added_at=added.get(name),
    )


def _holds_rejects(reader: Reader, name: str) -> bool:
    return {"_raw", "_fault", "_ingested_at"} <= set(reader.table(name).types)


def _owner(name: str) -> str:
    """Return whose journal or quarantine a table is."""
    return name.rpartition("_")[0]


def _runs_of(known: Sequence[Table], tables: Sequence[PageTable]) -> list[PageRun]:
    """Return the runs of a local warehouse, which are known by their commits."""
    documents = {each.name: each for each in known}
    found: dict[str, PageRun] = {}
    for table in tables:
        loads: dict[datetime | None, Load] = {each.at: each for each in table.loads}
        for commit in main_ancestry(documents[table.name].metadata):
            summary = commit.get("summary", {})
            at = datetime.fromtimestamp(commit["timestamp-ms"] // 1000, UTC)
            for run_id in runs_in(summary):
                run = found.setdefault(
                    run_id,
                    PageRun(
                        run_id=run_id, source=table.lineage.source, outcome="done", started_at=at
                    ),
                )
                load = loads.get(_extracted(summary)) if len(runs_in(summary)) == 1 else None
                run.tables[table.name] = load
    newest = sorted(found.values(), key=lambda run: run.started_at, reverse=True)
    return newest[:_MOST_LOCAL_RUNS]


def _with_commits(runs: Sequence[PageRun], commits: Sequence[PageRun]) -> list[PageRun]:
    """Return runs with what their commits did, and the runs that are known by their commits."""
    found = {each.run_id: each for each in commits}
    own = [
        each.model_copy(update={"tables": {**each.tables, **found[each.run_id].tables}})
        if each.run_id in found
        else each
        for each in runs
    ]
    others = [each for each in commits if each.run_id not in {run.run_id for run in runs}]
    newest = sorted([*own, *others], key=lambda run: run.started_at, reverse=True)
    return newest[:_MOST_LOCAL_RUNS]


def _extracted(summary: Mapping[str, str]) -> datetime | None:
    """Return the extraction time of a commit's run."""
    text = summary.get(EXTRACTION_TIME)
    time = datetime.fromisoformat(text) if text else None
    return time.replace(tzinfo=UTC) if time and not time.tzinfo else time


def _notes(tables: Sequence[PageTable]) -> list[str]:
    large = [each.name for each in tables if (each.rows or 0) > MOST_COMPARED]
    if not large:
        return []
    return [
        f"Histories and changes of columns are left out of {', '.join(large)}: more than "
        f"{MOST_COMPARED:,} versions."
    ]
