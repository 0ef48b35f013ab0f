"""An independent SCD2 model: runs and options in, the whole expected table out.

Plain Python, no Spark, no SQL, written from the specification alone, which docs/contracts.md
tells in short. It keeps no state from run to run: every table is derived from all the facts that
the accepted runs state.

The facts about one key, each at one moment:

* a record (upsert or delete) at its sequence; of several at one sequence the last counts, by
  the tie-break columns, extraction time, arrival of the run, position in the file;
* absence from a full extract, at its extraction time: the key is gone there, if the extract
  holds something of the key's scope;
* presence in a full extract, at its extraction time: a key that was gone there is back, with
  the content of the extract's latest record. For a key that is alive it changes nothing, unless
  `admission` says so; of content that is alike it tells what was not known.

At one moment a record beats presence and presence beats absence. `admission` says which records
count; `other_modes` derives scd1 and append.
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
    filled,
    fits,
    is_delete,
    joined,
    key_of,
    moment_of,
    stored,
    tie_rank,
    told_again,
    tracked,
)


class Also(dict[str, Any]):
    """What a full extract holds of a key that is there: no news, but of what is not known."""


State = tuple[Any, Record | None]  # from this moment on: a record, or None for gone
Scopes = set[tuple[Hashable, ...]]


@dataclass
class Facts:
    """All that is known about one key, by moment."""

    name: Record = field(default_factory=dict)  # the key columns
    records: dict[Any, tuple[Any, Record | None, bool]] = field(default_factory=dict)
    presences: dict[Any, tuple[Any, Record, bool]] = field(default_factory=dict)


def collect(runs: Sequence[Run], options: Options) -> dict[Key, Facts]:
    """Gather the records and presences of every key; the runs hold only records that count."""
    facts: dict[Key, Facts] = {}
    for arrival, run in enumerate(runs):
        for position, record in enumerate((*run.records, *run.back)):
            key, moment = key_of(record, options), moment_of(record, run, options)
            deleted = is_delete(record, run, options)
            if key is None or (deleted and options.deletes == "ignore"):
                continue
            known = facts.setdefault(key, Facts())
            known.name = {name: record[name] for name in options.keys}
            tie = tie_rank(record, options)
            rank = (tie, run.time, arrival, position)
            counts = position < len(run.records)
            if counts and (moment not in known.records or rank >= known.records[moment][0]):
                partial = options.ignore_null_updates and run.kind == "changes"
                before = known.records[moment][1] if moment in known.records else None
                told = None if deleted else told_again(record, before)
                known.records[moment] = (rank, told, partial)
            if run.kind == "full" and moment <= run.time:
                seen = (moment, tie, arrival, position)
                if run.time not in known.presences or seen >= known.presences[run.time][0]:
                    known.presences[run.time] = (seen, record, not counts)
    return facts


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


def states(facts: Facts, absent: dict[Any, list[Scopes]], options: Options) -> list[State]:
    """Return what a key is from each moment on; `absent` holds the scopes of who lacks it."""
    found: list[State] = []
    for moment in sorted({*facts.records, *facts.presences, *absent}):
        alive = next((r for _, r in reversed(found) if not isinstance(r, Also)), None)
        if moment in facts.records:
            _, record, partial = facts.records[moment]
            if record is not None and partial and alive is not None:
                record = filled(record, alive)
            found.append((moment, record))
        elif moment in facts.presences:
            _, record, back = facts.presences[moment]
            if alive is None or back:
                found.append((moment, record))
            elif options.late_changes == "exact" and options.mode == "scd2":
                found.append((moment, Also(record)))
        elif alive is not None and any(
            not options.delete_scope or content(alive, options.delete_scope) in scopes
            for scopes in absent[moment]
        ):
            found.append((moment, None))
    return found


def states_by_key(runs: Sequence[Run], options: Options) -> dict[Key, tuple[Record, list[State]]]:
    """Return the key columns and the states of every key."""
    extracts = absences(runs, options)
    table: dict[Key, tuple[Record, list[State]]] = {}
    for key, facts in collect(runs, options).items():
        absent: dict[Any, list[Scopes]] = {}
        for time, present, scopes in extracts:
            if key not in present:
                absent.setdefault(time, []).append(scopes)
        table[key] = (facts.name, states(facts, absent, options))
    return table


def versions(
    history: list[State], columns: Sequence[str], options: Options
) -> list[tuple[Any, Any, Record | None]]:
    """Collapse equal neighbours into versions (from, to or None, content or None: deleted)."""
    found: list[list[Any]] = []
    for moment, record in history:
        last = found[-1] if found and found[-1][1] is None else None
        alive = last[2] if last else None
        if isinstance(record, Also):
            if alive is not None and alike(alive, record, columns):
                told = {n: v for n, v in record.items() if alive.get(n) is UNKNOWN}
                found[-1][2] = joined(alive, {**alive, **told}, options)
            continue
        if record is None and alive is None:
            continue
        if record is not None and alive is not None and alike(alive, record, columns):
            found[-1][2] = joined(alive, record, options)
            continue
        if last is not None:
            last[1] = moment
        if record is not None or options.deletes == "mark":
            found.append([moment, None, record])
    return [(start, end, record) for start, end, record in found]


def row(name: Record, columns: Sequence[str], options: Options, version: Any) -> Row:
    """Return a version as the table shows it."""
    start, end, record = version
    told = {name: value for name, value in (record or {}).items() if value is not UNKNOWN}
    values = {column: told.get(column) for column in columns}
    shown = {**name, **values, "_valid_from": start, "_valid_to": end, "_is_current": end is None}
    return {**shown, "_is_deleted": record is None} if options.deletes == "mark" else shown


def derive(runs: Sequence[Run], options: Options) -> dict[Key, list[Row]]:
    """Return the rows of every key after these runs, all of whose records count."""
    columns = stored(runs, options)
    compared = tracked(columns, options)
    return {
        key: [row(name, columns, options, v) for v in versions(history, compared, options)]
        for key, (name, history) in states_by_key(runs, options).items()
    }
