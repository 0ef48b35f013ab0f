"""What the rows of a table say for its page, asked of DuckDB: a few queries for each table."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lakekit.duckdb.reader import Reader
from lakekit.duckdb.tables import TECHNICAL, Table
from lakekit.page.model import Change, KeyHistory, Load, Rejects, Version
from lakekit.sql.queries import double_quote
from lakekit.values import to_text

# Of a table with more versions the changes of each column are not counted, nor keys compared.
MOST_COMPARED = 3_000_000
MOST_LOADS, MOST_KEYS, MOST_VERSIONS, MOST_CHANGES = 30, 3, 8, 4
MOST_REASONS, MOST_SAMPLES, MOST_CHARACTERS = 5, 3, 160
_CONTROL = {*TECHNICAL, "_valid_from", "_valid_to", "_is_deleted"}


@dataclass(frozen=True)
class OfColumn:
    """Current rows without a value; versions that changed it, and when the last of them began."""

    nulls: int
    changes: int | None = None
    changed_at: datetime | None = None


@dataclass(frozen=True)
class OfRows:
    """What was found in the rows of one table."""

    columns: dict[str, OfColumn] = field(default_factory=dict)
    loads: tuple[Load, ...] = ()
    histories: tuple[KeyHistory, ...] = ()


def shown_columns(table: Table) -> list[str]:
    """Return the columns that a contract has, which are those that a person asks for."""
    return [name for name in table.types if name not in _CONTROL]


def ask_rows(reader: Reader, table: Table, rows: int | None) -> OfRows:
    """Ask what the rows of a history table say; nothing of another table.

    Args:
        reader: Of the table's place.
        table: The table.
        rows: How many it has.
    """
    if "_valid_from" not in table.types or not rows:
        return OfRows()
    compared = bool(table.keys) and rows <= MOST_COMPARED
    return OfRows(
        columns=_columns(reader, table, compared=compared),
        loads=_loads(reader, table) if compared else (),
        histories=_histories(reader, table) if compared else (),
    )


def ask_rejects(reader: Reader, name: str) -> tuple[Rejects, ...]:
    """Return the reasons in a quarantine, those of most records first, with samples."""
    sample = f"left(_raw, {MOST_CHARACTERS + 1})"
    query = (
        "SELECT _fault, count(*) AS n, max(_ingested_at), "
        f"arg_max({sample}, _ingested_at, {MOST_SAMPLES}) FROM {double_quote(name)} "
        "GROUP BY _fault ORDER BY n DESC, _fault"
    )
    found = list(reader.sql(query).rows)
    shown = [
        Rejects(
            reason=_cut(reason or "no reason"),
            count=number,
            newest=_utc(newest),
            samples=tuple(_cut(each) for each in samples or () if each),
        )
        for reason, number, newest, samples in found[:MOST_REASONS]
    ]
    if others := found[MOST_REASONS:]:
        number = sum(each[1] for each in others)
        shown.append(Rejects(reason=f"{len(others)} other reasons", count=number))
    return tuple(shown)


def ask_rejected(reader: Reader, name: str) -> dict[datetime, int]:
    """Return how many records of each extraction time are in a quarantine."""
    query = f"SELECT _ingested_at, count(*) FROM {double_quote(name)} GROUP BY 1 ORDER BY 1 DESC"
    newest = f"{query} LIMIT {MOST_LOADS}"
    return {time.replace(tzinfo=UTC): number for time, number in reader.sql(newest).rows if time}


def _columns(reader: Reader, table: Table, *, compared: bool) -> dict[str, OfColumn]:
    names = shown_columns(table)
    asked = []
    for place, name in enumerate(names):
        column = double_quote(name)
        asked.append(f"count_if(_is_current AND {column} IS NULL)")
        if compared:
            differs = f"__n > 1 AND {column} IS DISTINCT FROM __p{place}"
            asked += [f"count_if({differs})", f"max(_valid_from) FILTER ({differs})"]
    (row,) = reader.sql(
        f"SELECT {', '.join(asked)} FROM ({_versions(table, names, compared)})"
    ).rows
    if not compared:
        return {name: OfColumn(nulls) for name, nulls in zip(names, row, strict=True)}
    return {
        name: OfColumn(row[3 * n], row[3 * n + 1], _utc(row[3 * n + 2]))
        for n, name in enumerate(names)
    }


def _versions(table: Table, names: Sequence[str], compared: bool) -> str:
    if not compared:
        return f"SELECT * FROM {double_quote(table.name)}"
    before = ", ".join(
        f"lag({double_quote(name)}) OVER w AS __p{n}" for n, name in enumerate(names)
    )
    return (
        f"SELECT *, row_number() OVER w AS __n, {before} FROM {double_quote(table.name)} "
        f"WINDOW w AS ({_of_a_key(table)})"
    )


def _of_a_key(table: Table) -> str:
    return f"PARTITION BY {_keys(table)} ORDER BY _valid_from"


def _keys(table: Table) -> str:
    return ", ".join(map(double_quote, table.keys))


def _loads(reader: Reader, table: Table) -> tuple[Load, ...]:
    """Return what each extraction time opened and closed, by the versions that are there now.

    A version is closed by the run that opened the one after it; without one, when it ended.
    """
    query = (
        "WITH v AS (SELECT _ingested_at, _valid_to, lead(_valid_from) OVER w AS next_from, "
        f"lead(_ingested_at) OVER w AS next_at FROM {double_quote(table.name)} "
        f"WINDOW w AS ({_of_a_key(table)})), "
        "moved AS (SELECT _ingested_at AS load, 1 AS opened, 0 AS closed FROM v UNION ALL "
        "SELECT CASE WHEN next_from = _valid_to THEN next_at ELSE _valid_to END, 0, 1 FROM v "
        "WHERE _valid_to IS NOT NULL) "
        "SELECT load, sum(opened)::BIGINT, sum(closed)::BIGINT FROM moved GROUP BY load "
        f"HAVING sum(opened) > 0 ORDER BY load DESC LIMIT {MOST_LOADS}"
    )
    found = [
        Load(at=time.replace(tzinfo=UTC), opened=opened, closed=closed)
        for time, opened, closed in reader.sql(query).rows
        if time
    ]
    return tuple(reversed(found))


def _histories(reader: Reader, table: Table) -> tuple[KeyHistory, ...]:
    """Return the newest versions of the keys that have most of them."""
    keys = _keys(table)
    name = double_quote(table.name)
    most = (
        f"SELECT {keys}, count(*) AS __count FROM {name} GROUP BY {keys} "
        f"ORDER BY __count DESC, {keys} LIMIT {MOST_KEYS}"
    )
    query = (
        f"SELECT v.*, m.__count FROM {name} v JOIN ({most}) m USING ({keys}) "
        f"ORDER BY __count DESC, {keys}, _valid_from"
    )
    answer = reader.sql(query)
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in answer.rows:
        version = dict(zip(answer.columns, row, strict=True))
        key = tuple(to_text(version[each]) for each in table.keys)
        found.setdefault(key, []).append(version)
    return tuple(_history(table, key, versions) for key, versions in found.items())


def _history(table: Table, key: Sequence[str], versions: Sequence[dict[str, Any]]) -> KeyHistory:
    named = ", ".join(f"{name}={value}" for name, value in zip(table.keys, key, strict=True))
    pairs = list(zip([None, *versions], versions, strict=False))
    shown = tuple(_version(table, *each) for each in pairs[-MOST_VERSIONS:])
    return KeyHistory(key=_cut(named), count=len(versions), versions=shown)


def _version(table: Table, before: dict[str, Any] | None, version: dict[str, Any]) -> Version:
    changes = [
        Change(column=name, old=_shown(before[name]), new=_shown(version[name]))
        for name in shown_columns(table)
        if before and to_text(before[name]) != to_text(version[name])
    ]
    return Version(
        valid_from=version["_valid_from"].replace(tzinfo=UTC),
        valid_to=_utc(version["_valid_to"]),
        is_deleted=bool(version.get("_is_deleted")),
        changes=tuple(changes[:MOST_CHANGES]),
        more=len(changes[MOST_CHANGES:]),
    )


def _shown(value: Any) -> str:
    return "null" if value is None else _cut(to_text(value), 60)


def _cut(text: str, most: int = MOST_CHARACTERS) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _utc(time: datetime | None) -> datetime | None:
    return time.replace(tzinfo=UTC) if time else None
