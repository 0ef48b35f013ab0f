"""An independent SCD2 model: runs and options in, the whole expected table out.

Plain Python, no Spark, no SQL, written from the specification alone; docs/contracts.md has it in
short. The model keeps no state from run to run: every table is derived from all change events of
the accepted runs.

The change events of one key, each at one event time:

* a record (upsert or delete) at its sequence; the last of several at one sequence counts, by
  the tie-break columns, extraction time, arrival of the run, position in the file;
* absence from a full extract, at its extraction time: it deletes the key, if the extract holds
  something of the key's scope;
* presence in a full extract, at its extraction time: a deleted key is back, with the content of
  the extract's latest record. It does not change a current key, unless `admission` says so; if
  the content is alike it gives values that were unknown.

At one event time a record beats presence and presence beats absence. `admission` says which
records count; `other_modes` derives scd1 and append.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.model.terms import (
    UNKNOWN,
    Key,
    Options,
    Record,
    Row,
    Run,
    alike,
    content,
    event_time_of,
    filled,
    fits,
    is_delete,
    joined,
    key_of,
    stored,
    tie_rank,
    tracked,
    without_repeats,
)


class Also(dict[str, Any]):
    """The content of a current key in a full extract: new only where a value was unknown."""


State = tuple[Any, Record | None]  # from this event time on: a record, or None for deleted
Version = tuple[Any, Any, Record, bool]  # from, to or None, content, whether it says deleted
Scopes = set[tuple[Hashable, ...]]


@dataclass
class Journal:
    """The records and presences of one key, by event time."""

    name: Record = field(default_factory=dict)  # the key columns
    records: dict[Any, tuple[Any, Record | None]] = field(default_factory=dict)
    presences: dict[Any, tuple[Any, Record, bool]] = field(default_factory=dict)


def collect(runs: Sequence[Run], options: Options) -> dict[Key, Journal]:
    """Gather the records and presences of every key; the runs hold only records that count."""
    journals: dict[Key, Journal] = {}
    for arrival, run in enumerate(runs):
        for position, record in enumerate((*run.records, *run.back)):
            key, event_time = key_of(record, options), event_time_of(record, run, options)
            deleted = is_delete(record, run, options)
            if key is None or (deleted and options.deletes == "ignore"):
                continue
            known = journals.setdefault(key, Journal())
            known.name = {name: record[name] for name in options.keys}
            tie = tie_rank(record, options)
            rank = (tie, run.time, arrival, position)
            counts = position < len(run.records)
            if counts and (event_time not in known.records or rank >= known.records[event_time][0]):
                before = known.records[event_time][1] if event_time in known.records else None
                counted = None if deleted else without_repeats(record, before)
                known.records[event_time] = (rank, counted)
            if run.kind == "full" and event_time <= run.time:
                seen = (event_time, tie, arrival, position)
                if run.time not in known.presences or seen >= known.presences[run.time][0]:
                    known.presences[run.time] = (seen, record, not counts)
    return journals


def absences(runs: Sequence[Run], options: Options) -> list[tuple[Any, set[Key | None], Scopes]]:
    """Return, for each full extract that can delete, its time, its keys and its scopes."""
    if options.deletes == "ignore":
        return []
    return [
        (
            run.time,
            {*run.spared, *(key_of(record, options) for record in (*run.records, *run.witnesses))},
            {
                content(record, options.delete_scope)
                for record in (*run.records, *run.witnesses)
                if fits(record, run, options)
            },
        )
        for run in runs
        if run.kind == "full"
    ]


def states(journal: Journal, absent: dict[Any, list[Scopes]], options: Options) -> list[State]:
    """Return the states of a key by time; `absent` has the scopes of the extracts that lack it."""
    found: list[State] = []
    for event_time in sorted({*journal.records, *journal.presences, *absent}):
        current = next((r for _, r in reversed(found) if not isinstance(r, Also)), None)
        if event_time in journal.records:
            _, record = journal.records[event_time]
            if record is not None and options.ignore_null_updates and current is not None:
                record = filled(record, current)
            found.append((event_time, record))
        elif event_time in journal.presences:
            _, record, back = journal.presences[event_time]
            if current is None or back:
                found.append((event_time, record))
            elif options.late_changes == "exact" and options.mode == "scd2":
                found.append((event_time, Also(record)))
        elif current is not None and any(
            not options.delete_scope or content(current, options.delete_scope) in scopes
            for scopes in absent[event_time]
        ):
            found.append((event_time, None))
    return found


def states_by_key(runs: Sequence[Run], options: Options) -> dict[Key, tuple[Record, list[State]]]:
    """Return the key columns and the states of every key."""
    extracts = absences(runs, options)
    table: dict[Key, tuple[Record, list[State]]] = {}
    for key, journal in collect(runs, options).items():
        absent: dict[Any, list[Scopes]] = {}
        for time, present, scopes in extracts:
            if key not in present:
                absent.setdefault(time, []).append(scopes)
        table[key] = (journal.name, states(journal, absent, options))
    return table


def versions(history: list[State], columns: Sequence[str], options: Options) -> list[Version]:
    """Collapse equal neighbours into versions; one that says deleted has what it ended."""
    found: list[list[Any]] = []
    for event_time, record in history:
        last = found[-1] if found and found[-1][1] is None else None
        current = last[2] if last and not last[3] else None
        if isinstance(record, Also):
            if current is not None and alike(current, record, columns):
                known = {n: v for n, v in record.items() if current.get(n) is UNKNOWN}
                found[-1][2] = joined(current, {**current, **known}, options)
            continue
        if record is None and current is None:
            continue
        if record is not None and current is not None and alike(current, record, columns):
            found[-1][2] = joined(current, record, options)
            continue
        if last is not None:
            last[1] = event_time
        if record is not None:
            found.append([event_time, None, record, False])
        elif options.deletes == "mark":
            found.append([event_time, None, current, True])
    return [(start, end, record, deleted) for start, end, record, deleted in found]


def row(name: Record, columns: Sequence[str], options: Options, version: Version) -> Row:
    """Return a version as the table shows it."""
    start, end, record, deleted = version
    known = {name: value for name, value in record.items() if value is not UNKNOWN}
    values = {column: known.get(column) for column in columns}
    shown = {**name, **values, "_valid_from": start, "_valid_to": end, "_is_current": end is None}
    return {**shown, "_is_deleted": deleted} if options.deletes == "mark" else shown


def derive(runs: Sequence[Run], options: Options) -> dict[Key, list[Row]]:
    """Return the rows of every key after these runs, all of whose records count."""
    columns = stored(runs, options)
    compared = tracked(columns, options)
    return {
        key: [row(name, columns, options, v) for v in versions(history, compared, options)]
        for key, (name, history) in states_by_key(runs, options).items()
    }
