"""Which runs and records count, and the whole table after them: the entrance of the model.

A run is stopped, and changes nothing, if it would delete too much, if it has null keys where they
must fail, or if it is older than a merged one where nothing but its extraction time orders it.
A record is quarantined if a value is bad, if its key or sequence is null, if it conflicts with
another of its run where ties are not broken, or if it is late where late changes are not exact.
It still shows that its key is present. Late is what is not after the newest that is known of its
key; the newest full extract tells something of keys that it lacks, and of deletions before it. But
a full extract brings back, at its own time, a key that was gone.
"""

from collections.abc import Hashable, Sequence
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
    filled,
    fits,
    is_delete,
    key_of,
    moment_of,
    stored,
    tracked,
)

Verdict = Literal["news", "late", "known", "back"]


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
    back: list[Record] = []
    if options.late_changes != "exact" and options.sequence_by is not None:
        known = _Known(before, options)
        judged = [(record, known.judge(record, run)) for record in good]
        if options.late_changes == "quarantine":
            quarantined += sum(verdict == "late" for _, verdict in judged)
        good = [record for record, verdict in judged if verdict == "news"]
        back = [record for record, verdict in judged if verdict == "back"]
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
        admitted = _telling(admitted, before, options)
    return admitted, quarantined


def _telling(run: Run, before: Sequence[Run], options: Options) -> Run:
    """Leave out the records that only say again what holds, where nothing remembers them."""
    runs = [*before, run]
    compared = tracked(stored(runs, options), options)
    again = {
        (key, moment)
        for key, (_, found) in states_by_key(runs, options).items()
        for (_, one), (moment, other) in pairwise(found)
        if one and other and content(one, compared) == content(other, compared)
    }
    kept = [r for r in run.records if _place(r, run, options) not in again]
    others = [r for r in run.records if _place(r, run, options) in again]
    return replace(run, records=kept, witnesses=[*run.witnesses, *others])


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


class _Known:
    """What is known before a run where late changes are not exact, and what its records are to it.

    `edges` are the newest moments of the keys.
    """

    def __init__(self, before: Sequence[Run], options: Options) -> None:
        known = states_by_key(before, options)
        self._options = options
        self.edges = {key: found[-1] for key, (_, found) in known.items() if found}
        self._extracts = absences(before, options)

    def judge(self, record: Record, run: Run) -> Verdict:
        """Say whether a record tells news, comes late, or is known, or brings its key back."""
        options = self._options
        key, moment = _place(record, run, options)
        edge, held = self.edges.get(key, (None, None)) if key else (None, None)
        deletes = is_delete(record, run, options)
        if held is None:
            ends = [end for end in (edge, self._full(record)) if end is not None]
            if not ends or moment > max(ends) or (deletes and moment == max(ends)):
                return "news"
            return "back" if run.kind == "full" and max(ends) < run.time else "late"
        if deletes:
            return "late" if moment <= edge or self.is_before_full(moment, held) else "news"
        columns = stored([run], options)
        if moment > edge:
            partial = options.ignore_null_updates and run.kind == "changes"
            said = filled(record, held) if partial else record
            full = self._full_that_lacks(said, held)
            if full is None or moment >= full:
                return "news"
            return "back" if run.kind == "full" and full < run.time else "late"
        seen = columns if options.untracked == "overwrite" else tracked(columns, options)
        holds = moment == edge or (run.time >= edge and moment == held[options.sequence_by])
        return "known" if holds and content(record, seen) == content(held, seen) else "late"

    def is_before_full(self, moment: Any, held: Record | None) -> bool:
        """Say whether a full extract that tells of a key is younger, by what the key holds."""
        full = None if held is None else self._full(held)
        return full is not None and bool(moment < full)

    def _full(self, record: Record) -> Any:
        """Return the time of the newest full extract that tells of a record."""
        # A partial record of a key that is not there need not say its scope.
        partial = self._options.ignore_null_updates
        return self._newest(None if partial else record)

    def _full_that_lacks(self, record: Record, held: Record) -> Any:
        """Return the time of the newest full extract of the scope that a record moves its key to.

        None if one as young told of the scope that the key is in: it held the key.
        """
        scope = self._options.delete_scope
        if content(record, scope) == content(held, scope):
            return None
        lacks, holds = self._newest(record), self._newest(held)
        return None if lacks is None or (holds is not None and lacks <= holds) else lacks

    def _newest(self, record: Record | None) -> Any:
        """Return the time of the newest full extract of a record's scope, or of any."""
        scope = self._options.delete_scope
        told = [
            time
            for time, _, held in self._extracts
            if record is None or not scope or content(record, scope) in held
        ]
        return max(told, default=None)
