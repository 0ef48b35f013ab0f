"""An independent SCD2 model: runs and options in, the whole expected table out.

Plain Python, no Spark, no SQL, written from the text of the issue alone. It keeps no state
from run to run: every table is derived from all the facts that the accepted runs state.

The facts about one key, each at one moment:

* a record (upsert or delete) at its sequence; of several at one sequence the last counts, by
  extraction time, then arrival of the run, then position in the file;
* absence from a full extract, at its extraction time: the key is gone there;
* presence in a full extract, at its extraction time: a key that was gone there is back, with
  the content of the extract's latest record. For a key that is alive it changes nothing.

At one moment a record beats presence and presence beats absence. Records with a null in the key
or the sequence are quarantined (a null sequence still counts as presence against absence).
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

Record = dict[str, Any]
Row = dict[str, Any]
Key = tuple[Hashable, ...]


@dataclass(frozen=True)
class Run:
    """One extract: its kind, its extraction time and its records in file order."""

    kind: Literal["full", "incremental", "changes"]
    time: Any
    records: Sequence[Record]


@dataclass(frozen=True)
class Options:
    """The part of the `history` contract that the model knows."""

    keys: tuple[str, ...]
    sequence_by: str | None = None  # None: the extraction time of the run
    deletes: Literal["close", "ignore"] = "close"
    apply_as_deletes: Callable[[Record], Any] | None = None  # change extracts only; None is false
    tracked: tuple[str, ...] | None = None  # None: all but keys and sequence_by
    untracked: Literal["overwrite", "ignore"] = "overwrite"
    max_deleted_ratio: float | None = None  # None: no guard
    except_columns: tuple[str, ...] = ()


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


def comparable(rows: Iterable[Row]) -> Counter[Hashable]:
    """Return a table as a multiset, so that `==` compares two of them whatever their order."""
    return Counter(frozenset((name, canon(value)) for name, value in row.items()) for row in rows)


@dataclass
class _Facts:
    """All that is known about one key, by moment."""

    records: dict[Any, tuple[tuple[Any, int, int], Record | None]] = field(default_factory=dict)
    presences: dict[Any, tuple[tuple[Any, int, int], Record]] = field(default_factory=dict)


def _key(record: Record, options: Options) -> Key | None:
    values = [record.get(name) for name in options.keys]
    return None if any(v is None for v in values) else tuple(canon(v) for v in values)


def _sequence(record: Record, run: Run, options: Options) -> Any:
    return run.time if options.sequence_by is None else record.get(options.sequence_by)


def _is_delete(record: Record, run: Run, options: Options) -> bool:
    predicate = options.apply_as_deletes
    return run.kind == "changes" and predicate is not None and bool(predicate(record))


def _collect(runs: Sequence[Run], options: Options) -> dict[Key, _Facts]:
    """Gather the records and presences of every key."""
    facts: dict[Key, _Facts] = {}
    for arrival, run in enumerate(runs):
        for position, record in enumerate(run.records):
            key, sequence = _key(record, options), _sequence(record, run, options)
            if key is None or sequence is None:
                continue
            deleted = _is_delete(record, run, options)
            if deleted and options.deletes == "ignore":
                continue
            known = facts.setdefault(key, _Facts())
            rank = (run.time, arrival, position)
            if sequence not in known.records or rank >= known.records[sequence][0]:
                known.records[sequence] = (rank, None if deleted else record)
            if run.kind == "full" and sequence <= run.time:
                seen = (sequence, arrival, position)
                if run.time not in known.presences or seen >= known.presences[run.time][0]:
                    known.presences[run.time] = (seen, record)
    return facts


def _absences(runs: Sequence[Run], options: Options) -> list[tuple[Any, set[Key | None]]]:
    """Return, for each full extract that can delete, its time and the keys that it holds."""
    if options.deletes == "ignore":
        return []
    full = [run for run in runs if run.kind == "full"]
    return [(run.time, {_key(record, options) for record in run.records}) for run in full]


def _states(facts: _Facts, absent: set[Any]) -> list[tuple[Any, Record | None]]:
    """Return what a key is from each moment on: a record, or None for gone."""
    states: list[tuple[Any, Record | None]] = []
    for moment in sorted({*facts.records, *facts.presences, *absent}):
        gone = not states or states[-1][1] is None
        if moment in facts.records:
            states.append((moment, facts.records[moment][1]))
        elif moment in facts.presences:
            if gone:
                states.append((moment, facts.presences[moment][1]))
        elif not gone:
            states.append((moment, None))
    return states


def _versions(
    states: list[tuple[Any, Record | None]], tracked: Sequence[str], options: Options
) -> list[list[Any]]:
    """Collapse equal neighbours into versions [from, to or None, record]."""
    versions: list[list[Any]] = []
    for moment, record in states:
        last = versions[-1] if versions and versions[-1][1] is None else None
        if record is None:
            if last is not None:
                last[1] = moment
            continue
        if last is not None:
            if all(canon(last[2].get(c)) == canon(record.get(c)) for c in tracked):
                if options.untracked == "overwrite":
                    last[2] = record
                continue
            last[1] = moment
        versions.append([moment, None, record])
    return versions


def _derive(runs: Sequence[Run], options: Options) -> dict[Key, list[Row]]:
    """Return the rows of every key after these runs, all of them accepted."""
    hidden = {*options.keys, *options.except_columns}
    names = dict.fromkeys(name for run in runs for record in run.records for name in record)
    columns = [name for name in names if name not in hidden]
    tracked = options.tracked
    if tracked is None:
        tracked = tuple(name for name in columns if name != options.sequence_by)
    extracts = _absences(runs, options)
    table: dict[Key, list[Row]] = {}
    for key, facts in _collect(runs, options).items():
        absent = {time for time, present in extracts if key not in present}
        table[key] = [
            {name: record.get(name) for name in (*options.keys, *columns)}
            | {"_valid_from": start, "_valid_to": end, "_is_current": end is None}
            for start, end, record in _versions(_states(facts, absent), tracked, options)
        ]
    return table


def accepted(runs: Sequence[Run], options: Options) -> list[Run]:
    """Return the runs that the ratio guard lets through; a stopped run changes nothing."""
    passed: list[Run] = []
    for run in runs:
        if run.kind == "full" and options.max_deleted_ratio is not None:
            before, after = _derive(passed, options), _derive([*passed, run], options)
            current = [key for key, rows in before.items() if rows and rows[-1]["_is_current"]]
            lost = [key for key in current if not after[key][-1]["_is_current"]]
            if current and len(lost) / len(current) > options.max_deleted_ratio:
                continue
        passed.append(run)
    return passed


def history(runs: Sequence[Run], options: Options) -> list[Row]:
    """Return the whole table after the runs, each key's versions in order of time."""
    return [row for rows in _derive(accepted(runs, options), options).values() for row in rows]
