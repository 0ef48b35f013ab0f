"""The terms of the model: runs, options, and equal contents. No Spark, no SQL."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Literal

Record = dict[str, Any]
Row = dict[str, Any]
Key = tuple[Hashable, ...]
BAD: Any = ("a value that does not fit the type of its column",)
UNKNOWN: Any = ("a value of a column that the contract did not have yet",)


@dataclass(frozen=True)
class Run:
    """One extract: its kind, its extraction time and its records in file order.

    `witnesses` are records that do not count, yet show that their key and scope are present. Those
    in `back` bring a deleted key back at the extraction time. `spared` are keys whose absence does
    not count.
    """

    kind: Literal["full", "incremental", "changes"]
    time: Any
    records: Sequence[Record]
    witnesses: Sequence[Record] = ()
    back: Sequence[Record] = ()
    spared: frozenset[Key] = frozenset()


@dataclass(frozen=True)
class Options:
    """The `history` section of a contract, as far as it decides what the table holds."""

    keys: tuple[str, ...]
    sequence_by: str | None = None  # None: the extraction time of the run
    deletes: Literal["close", "ignore", "mark"] = "close"
    apply_as_deletes: Callable[[Record], Any] | None = None  # change extracts only; None is false
    tracked: tuple[str, ...] | None = None  # None: all stored but keys, sequence_by and the next
    tracked_except: tuple[str, ...] = ()
    untracked: Literal["overwrite", "ignore"] = "overwrite"
    max_deleted_ratio: float | None = None  # None: no guard
    except_columns: tuple[str, ...] = ()
    mode: Literal["scd2", "scd1", "append"] = "scd2"
    delete_scope: tuple[str, ...] = ()
    ignore_null_updates: bool = False
    tie_break: tuple[str, ...] = ("file_position",)
    late_changes: Literal["exact", "quarantine", "ignore"] = "exact"
    null_keys: Literal["quarantine", "fail"] = "quarantine"


def canon(value: Any) -> Hashable:
    """Return a value that is equal for exactly the contents that SCD2 calls equal."""
    if isinstance(value, float) and math.isnan(value):
        return ("nan",)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return ("number", value)  # Python: -0.0 == 0.0, Decimal("1.0") == Decimal("1.00")
    if isinstance(value, dict):
        return ("map", frozenset((canon(k), canon(v)) for k, v in value.items()))
    if isinstance(value, list | tuple):
        return ("list", tuple(canon(item) for item in value))
    if isinstance(value, bytes | bytearray):
        return ("bytes", bytes(value))
    return (type(value).__name__, value)


def content(record: Record, columns: Iterable[str]) -> tuple[Hashable, ...]:
    """Return what is compared of a record."""
    return tuple(canon(record.get(name)) for name in columns)


def alike(one: Record, other: Record, columns: Iterable[str]) -> bool:
    """Say whether two records are equal in all columns that are known of both."""
    known = [n for n in columns if one.get(n) is not UNKNOWN and other.get(n) is not UNKNOWN]
    return content(one, known) == content(other, known)


def joined(held: Record, said: Record, options: Options) -> Record:
    """Return what a version holds after a record that is alike.

    An unknown value becomes the first value that a record says; a null says nothing.
    """
    newer, older = (said, held) if options.untracked == "overwrite" else (held, said)
    both = {n: older.get(n) if v is UNKNOWN else v for n, v in newer.items()}
    return both | {n: UNKNOWN for n, v in held.items() if v is UNKNOWN and said.get(n) is None}


def filled(record: Record, current: Record) -> Record:
    """Return a partial record whose nulls are replaced by the values before it."""

    def value(name: str, said: Any) -> Any:
        before = current.get(name)
        if said is None:
            return None if before is UNKNOWN else before
        return before if said is UNKNOWN else said

    return {name: value(name, said) for name, said in record.items()}


def without_repeats(record: Record, before: Record | None) -> Record:
    """Return a record; if it only repeats another one, the other one counts.

    Columns that were unknown in the other one are then unknown.
    """
    if before is None or not alike(before, record, record):
        return record
    unknown = [name for name, value in before.items() if value is UNKNOWN]
    more = any(record.get(name) not in (None, UNKNOWN) for name in unknown)
    return record if more else record | dict.fromkeys(unknown, UNKNOWN)


def comparable(rows: Iterable[Row]) -> Counter[Hashable]:
    """Return a table as a multiset, so that `==` compares two of them whatever their order."""
    return Counter(frozenset((name, canon(value)) for name, value in row.items()) for row in rows)


def key_of(record: Record, options: Options) -> Key | None:
    """Return the key, or None if a part of it is null or cannot be read."""
    values = [record.get(name) for name in options.keys]
    return None if any(v is None or v is BAD for v in values) else tuple(canon(v) for v in values)


def event_time_of(record: Record, run: Run, options: Options) -> Any:
    """Return from when a record holds: its sequence, else the extraction time of its run.

    A day begins at midnight.
    """
    event_time = run.time if options.sequence_by is None else record.get(options.sequence_by)
    day = isinstance(event_time, date) and not isinstance(event_time, datetime)
    return datetime.combine(event_time, time()) if day else event_time


def fits(record: Record, run: Run, options: Options) -> bool:
    """Say whether a record keeps the contract."""
    if any(value is BAD for value in record.values()):
        return False
    if event_time_of(record, run, options) is None:
        return False
    return not options.keys or key_of(record, options) is not None


def is_delete(record: Record, run: Run, options: Options) -> bool:
    """Say whether a record deletes its key; null is false."""
    predicate = options.apply_as_deletes
    return run.kind == "changes" and predicate is not None and bool(predicate(record))


def tie_rank(record: Record, options: Options) -> tuple[tuple[bool, Any], ...]:
    """Return the values of the tie-break columns, to be compared; null is the smallest."""
    ranks: list[tuple[bool, Any]] = []
    for name in options.tie_break:
        if name == "file_position":
            break
        value = record.get(name)
        ranks.append((value is not None, 0 if value is None else value))
    return tuple(ranks)


def stored(runs: Iterable[Run], options: Options) -> tuple[str, ...]:
    """Return the columns that are stored with the keys."""
    hidden = {*options.keys, *options.except_columns}
    records = (record for run in runs for record in run.records)
    names = dict.fromkeys(n for each in records for n, v in each.items() if v is not UNKNOWN)
    return tuple(name for name in names if name not in hidden)


def tracked(columns: Iterable[str], options: Options) -> tuple[str, ...]:
    """Return the columns whose change opens a version."""
    if options.tracked is not None:
        return options.tracked
    left_out = {options.sequence_by, *options.tracked_except}
    return tuple(name for name in columns if name not in left_out)
