"""The model of the modes without versions: scd1 (the latest) and append (what is new)."""

from collections.abc import Sequence
from typing import Any

from tests.model.scd2_model import row, states_by_key, versions
from tests.model.terms import Options, Row, Run, event_time_of, key_of, stored, tie_rank


def upserted(runs: Sequence[Run], options: Options) -> list[Row]:
    """Return one row per current key: its latest record.

    `_valid_from` is its event time; without a sequence, when the content last changed.
    """
    columns = stored(runs, options)
    rows: list[Row] = []
    for name, history in states_by_key(runs, options).values():
        if options.sequence_by is None:
            found = versions(history, columns, options)
            latest: Any = found[-1] if found and found[-1][1] is None else None
        else:
            latest = (history[-1][0], None, history[-1][1], False) if history else None
        if latest is not None and latest[2] is not None:
            rows.append(row(name, columns, options, latest))
    return rows


def appended(runs: Sequence[Run], options: Options) -> list[Row]:
    """Return one row per key and sequence, or per key, or per record if there is no key.

    What an earlier run appended stays; within a run the tie-break decides. There are no versions,
    hence no columns of validity.
    """
    columns = stored(runs, options)
    table: dict[Any, Row] = {}
    for arrival, run in enumerate(runs):
        best: dict[Any, tuple[Any, Row]] = {}
        for position, record in enumerate(run.records):
            event_time = event_time_of(record, run, options)
            identity: Any = (key_of(record, options), options.sequence_by and event_time)
            if not options.keys:
                identity = (arrival, position)
            rank = (tie_rank(record, options), position)
            if identity not in best or rank >= best[identity][0]:
                shown = {column: record.get(column) for column in (*options.keys, *columns)}
                best[identity] = (rank, shown)
        for identity, (_, shown) in best.items():
            table.setdefault(identity, shown)
    return list(table.values())
