"""Which runs and records count, and the whole table after them: the entrance of the model.

A run is stopped, and changes nothing, if it would delete too much, if it has null keys where they
must fail, if it is older than a merged one where nothing but its extraction time orders it, or if
it is a full extract where records are partial.
A record is quarantined if a value is bad, if its key or sequence is null, or if it is late where
late changes are not exact.
It still shows that its key is present. A record is late if it is not after the newest record of its
key. The newest full extract counts too: for keys that it lacks, and for deletions before it. A full
extract brings back a deleted key at its own extraction time.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

from tests.model.other_modes import appended, upserted
from tests.model.scd2_model import absences, derive, states_by_key
from tests.model.terms import (
    Key,
    Options,
    Record,
    Row,
    Run,
    content,
    event_time_of,
    fits,
    is_delete,
    key_of,
    stored,
    tracked,
)

Outcome = Literal["news", "late", "known", "back"]


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
    quarantined = len(run.records) - len(good)
    spared: set[Key] = set()
    back: list[Record] = []
    if options.late_changes != "exact" and options.sequence_by is not None:
        known = _Known(before, options)
        judged = [(record, known.judge(record, run)) for record in good]
        if options.late_changes == "quarantine":
            quarantined += sum(outcome == "late" for _, outcome in judged)
        good = [record for record, outcome in judged if outcome == "news"]
        back = [record for record, outcome in judged if outcome == "back"]
        spared = {
            key
            for key, (edge, held) in known.edges.items()
            if run.time <= edge or known.is_before_full(run.time, held)
        }
    admitted = replace(
        run,
        records=good,
        witnesses=[r for r in run.records if not any(r is kept for kept in good)],
        back=back,
        spared=frozenset(spared),
    )
    if options.late_changes != "exact" and options.untracked == "ignore":
        admitted = _without_repeats(admitted, before, options)
    return admitted, quarantined


def _without_repeats(run: Run, before: Sequence[Run], options: Options) -> Run:
    """Leave out the records that only repeat the current content: no journal keeps them."""
    runs = [*before, run]
    compared = tracked(stored(runs, options), options)
    again = {
        (key, event_time)
        for key, (_, found) in states_by_key(runs, options).items()
        for (_, one), (event_time, other) in pairwise(found)
        if one and other and content(one, compared) == content(other, compared)
    }
    kept = [r for r in run.records if _place(r, run, options) not in again]
    others = [r for r in run.records if _place(r, run, options) in again]
    return replace(run, records=kept, witnesses=[*run.witnesses, *others])


def _stopped(run: Run, passed: Sequence[Run], options: Options) -> bool:
    if options.ignore_null_updates and run.kind == "full":
        return True
    if options.null_keys == "fail" and any(key_of(r, options) is None for r in run.records):
        return True
    if options.sequence_by is None and any(run.time < other.time for other in passed):
        return True
    if run.kind != "full" or options.max_deleted_ratio is None:
        return False
    before = states_by_key(passed, options)
    after = states_by_key([*passed, admit(run, passed, options)[0]], options)
    current = [key for key, (_, found) in before.items() if found and found[-1][1] is not None]
    lost = [key for key in current if after[key][1][-1][1] is None]
    return bool(current) and len(lost) / len(current) > options.max_deleted_ratio


def _place(record: Record, run: Run, options: Options) -> tuple[Key | None, Any]:
    return key_of(record, options), event_time_of(record, run, options)


class _Known:
    """The keys before a run whose late changes are not exact; `judge` compares its records to them.

    `edges` are the newest event times of the keys.
    """

    def __init__(self, before: Sequence[Run], options: Options) -> None:
        known = states_by_key(before, options)
        self._options = options
        self.edges = {key: found[-1] for key, (_, found) in known.items() if found}
        # The time of the newest full extract.
        self._full = max((time for time, *_ in absences(before, options)), default=None)

    def judge(self, record: Record, run: Run) -> Outcome:
        """Say whether a record is new, late or known, or brings its key back."""
        options = self._options
        key, event_time = _place(record, run, options)
        edge, held = self.edges.get(key, (None, None)) if key else (None, None)
        deletes = is_delete(record, run, options)
        if held is None:
            ends = [end for end in (edge, self._full) if end is not None]
            if not ends or event_time > max(ends) or (deletes and event_time == max(ends)):
                return "news"
            return "back" if run.kind == "full" and max(ends) < run.time else "late"
        if deletes:
            return "late" if event_time <= edge or self.is_before_full(event_time, held) else "news"
        columns = stored([run], options)
        if event_time > edge:
            return "news"
        seen = columns if options.untracked == "overwrite" else tracked(columns, options)
        holds = event_time == edge or (run.time >= edge and event_time == held[options.sequence_by])
        return "known" if holds and content(record, seen) == content(held, seen) else "late"

    def is_before_full(self, event_time: Any, held: Record | None) -> bool:
        """Say whether a full extract is younger than a change of a key that is there."""
        return held is not None and self._full is not None and bool(event_time < self._full)
