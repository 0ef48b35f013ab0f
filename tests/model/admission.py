"""Which runs and records count, and the whole table after them: the entrance of the model.

A run is stopped, and changes nothing, if it would delete too much, if it has null keys where they
must fail, or if it is older than a merged one where nothing but its extraction time orders it.
A record is quarantined if a value is bad, if its key or sequence is null, if it conflicts with
another of its run where ties are not broken, or if it is late where late changes are not exact.
It still shows that its key is present.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from tests.model.other_modes import appended, upserted
from tests.model.scd2_model import derive, states_by_key
from tests.model.terms import (
    Key,
    Options,
    Record,
    Row,
    Run,
    content,
    fits,
    is_delete,
    key_of,
    moment_of,
    stored,
    tracked,
)

Edge = tuple[
    Any, Record | None
]  # the newest moment that is known of a key, and its content, or the deletion


def history(runs: Sequence[Run], options: Options) -> list[Row]:
    """Return the whole table after the runs, each key's versions in order of time."""
    passed = accepted(runs, options)
    if options.mode == "scd1":
        return upserted(passed, options)
    if options.mode == "append":
        return appended(passed, options)
    return [row for rows in derive(passed, options).values() for row in rows]


def accepted(runs: Sequence[Run], options: Options) -> list[Run]:
    """Return the runs that are not stopped, with the records that count."""
    passed: list[Run] = []
    for run in runs:
        if not _stopped(run, passed, options):
            passed.append(admit(run, passed, options)[0])
    return passed


def admit(run: Run, before: Sequence[Run], options: Options) -> tuple[Run, int]:
    """Return the run with the records that count, and how many are quarantined."""
    good = [record for record in run.records if fits(record, run, options)]
    conflicts = _conflicts(replace(run, records=good), options)
    good = [record for record in good if _place(record, run, options) not in conflicts]
    quarantined = len(run.records) - len(good)
    spared: set[Key] = set()
    if options.late_changes != "exact" and options.sequence_by is not None:
        edges = _edges(before, options)
        timely = [record for record in good if not _late(record, run, edges, options)]
        if options.late_changes == "quarantine":
            quarantined += len(good) - len(timely)
        good = timely
        spared = {key for key, (edge, _) in edges.items() if run.time <= edge}
    others = [r for r in run.records if not any(r is kept for kept in good)]
    admitted = replace(run, records=good, witnesses=others, spared=frozenset(spared))
    return admitted, quarantined


def _stopped(run: Run, passed: Sequence[Run], options: Options) -> bool:
    if options.null_keys == "fail" and any(key_of(r, options) is None for r in run.records):
        return True
    if options.sequence_by is None and any(run.time < other.time for other in passed):
        return True
    if run.kind != "full" or options.max_deleted_ratio is None:
        return False
    before = states_by_key(passed, options)
    after = states_by_key([*passed, admit(run, passed, options)[0]], options)
    alive = [key for key, (_, found) in before.items() if found and found[-1][1] is not None]
    lost = [key for key in alive if after[key][1][-1][1] is None]
    return bool(alive) and len(lost) / len(alive) > options.max_deleted_ratio


def _place(record: Record, run: Run, options: Options) -> tuple[Key | None, Any]:
    return key_of(record, options), moment_of(record, run, options)


def _conflicts(run: Run, options: Options) -> set[tuple[Key | None, Any]]:
    """Return the keys and moments at which the run says two things, if that is not settled."""
    if options.tie_break != "quarantine":
        return set()
    columns = stored([run], options)
    said: dict[tuple[Key | None, Any], set[Hashable]] = {}
    for record in run.records:
        deleted = is_delete(record, run, options)
        what = "gone" if deleted else content(record, columns)
        said.setdefault(_place(record, run, options), set()).add(what)
    return {place for place, contents in said.items() if len(contents) > 1}


def _edges(before: Sequence[Run], options: Options) -> dict[Key, Edge]:
    """Return the newest that is known of each key; what is earlier than that is late."""
    known = states_by_key(before, options)
    return {key: found[-1] for key, (_, found) in known.items() if found}


def _late(record: Record, run: Run, edges: dict[Key, Edge], options: Options) -> bool:
    """Say whether a record comes too late; to say again what holds at the edge is no change."""
    key, moment = _place(record, run, options)
    if key not in edges:
        return False
    edge, known = edges[key]
    if moment != edge:
        return bool(moment < edge)
    if known is None or is_delete(record, run, options):
        return not (known is None and is_delete(record, run, options))
    columns = tracked(stored([run], options), options)
    return content(record, columns) != content(known, columns)
