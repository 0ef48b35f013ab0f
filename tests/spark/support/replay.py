"""Runs of the model as landed files: merge them, read the whole table and all its states."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakekit import layout
from lakekit.batch import Batch, MergeResult
from lakekit.replay.merged_runs import MergedRun
from lakekit.spark.iceberg.table import main_snapshot
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.rebuild import rebuild
from tests.model.admission import accepted, admit, history
from tests.model.terms import Row, Run, comparable, content, is_delete, stored, tracked
from tests.spark.support.combinations import Combination
from tests.spark.support.written_runs import write_run

CONTROL = ("_valid_from", "_valid_to", "_is_current")
RECORDS = ("opened", "unchanged", "duplicates", "superseded", "deletes", "quarantined")


def _is_there(row: Row) -> bool:
    return not row.get("_is_deleted")


def _has_ended(row: Row) -> bool:
    return row["_valid_to"] is not None


@dataclass
class Replay:
    """One table that runs are merged into."""

    spark: SparkSession
    combination: Combination
    table: str
    folder: Path
    runs: list[Run] = field(default_factory=list)
    results: list[MergeResult] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    _numbers: Any = field(default_factory=count)
    _shown: list[Row] = field(default_factory=list)

    def merge(self, run: Run, run_id: str | None = None) -> MergeResult:
        """Land a run and merge it."""
        return self.merge_landed(run, self.land(run, run_id))

    def land(self, run: Run, run_id: str | None = None) -> Batch:
        """Land a run in two files."""
        number = next(self._numbers)
        files = write_run(run, self.combination.columns, self.folder, f"{self.table}-{number}")
        return Batch(
            run_id=run_id or f"run-{number}",
            extract=run.kind,
            extraction_time=run.time.replace(tzinfo=UTC),
            files=tuple(files),
            bytes=sum(Path(file).stat().st_size for file in files),
            merged_until=self.merged_until,
        )

    def merge_landed(self, run: Run, batch: Batch) -> MergeResult:
        """Merge a run that has landed."""
        done = self.attempt(batch)
        self.runs.append(run)
        self.batches.append(batch)
        self.results.append(done)
        return done

    def attempt(self, batch: Batch) -> MergeResult:
        """Merge a batch that has landed; nothing is recorded here."""
        contract, staging = self.combination.contract, self.staging
        return merge_scd2(self.spark, contract, batch, self.table, staging=staging)

    @property
    def staging(self) -> str:
        return (self.folder / "staging").as_uri()

    @property
    def merged_until(self) -> datetime | None:
        """The newest extraction time of the merged runs, as their landings record it."""
        times = (run.time.replace(tzinfo=UTC) for run in self.runs)
        return max(times, default=None)

    def check(self, run: Run) -> None:
        """Merge a run; the whole table and the counts of records are those of the model."""
        options = self.combination.options
        known = accepted(self.runs, options)
        done = self.merge(run)
        expected = self.assert_as_expected()
        assert done.quarantined == admit(run, known, options)[1]
        before, self._shown = self._shown, expected
        self._assert_counts(run, before, expected)

    def assert_as_expected(self) -> list[Row]:
        """Compare the whole table with the model, which is returned."""
        found, expected = self.rows(), history(self.runs, self.combination.options)
        if comparable(found) != comparable(expected):
            pytest.fail(self._story(found, expected), pytrace=False)
        return expected

    def _assert_counts(self, run: Run, before: list[Row], after: list[Row]) -> None:
        """Compare the counts of the last run with its records and the changed versions."""
        done, options = self.results[-1], self.combination.options
        self.assert_conserved()
        assert done.deletes <= sum(is_delete(record, run, options) for record in run.records)
        if options.mode == "append":
            assert done.opened == len(after) - len(before)
        if options.mode == "scd1":
            now, compared = self._versions(after), self._compared()
            replaced = [
                k
                for k, row in self._versions(before).items()
                if k not in now or content(row, compared) != content(now[k], compared)
            ]
            keys = {key for key, _ in now}
            assert done.closed == len(replaced)
            assert done.deleted == len([key for key, _ in replaced if key not in keys])
        if options.mode == "scd2":
            current, ended = (
                {*self._versions(after, which)} - {*self._versions(before, which)}
                for which in (_is_there, _has_ended)
            )
            starts, ends = {*self._versions(after, _is_there)}, self._versions(after, _has_ended)
            deleted = [
                k
                for k in ended
                if _is_there(ends[k]) and (k[0], ends[k]["_valid_to"]) not in starts
            ]
            assert len(current) <= done.opened + done.restored
            assert (done.closed, done.deleted) == (len(ended), len(deleted))
            # Without a sequence no version is cut.
            if options.sequence_by is None:
                assert done.opened == len(current)

    def assert_conserved(self) -> None:
        """Compare the counts of the last run with the number of its records."""
        run, done = self.runs[-1], self.results[-1]
        records = [getattr(done, name) for name in RECORDS]
        assert min(*records, done.closed, done.deleted, done.restored) >= 0
        assert sum(records) == len(run.records)
        assert done.deleted <= done.closed
        assert done.committed or not done.opened + done.closed + done.restored

    def _versions(
        self, rows: Iterable[Row], which: Callable[[Row], bool] = lambda _: True
    ) -> dict[Any, Row]:
        """Return some versions by their keys and starts."""
        keys = self.combination.options.keys
        return {(content(row, keys), row["_valid_from"]): row for row in rows if which(row)}

    def _story(self, found: list[Row], expected: list[Row]) -> str:
        """Return the shortest history of a key that came out wrong."""
        keys, of = self.combination.options.keys, self._of
        wrong = {
            key
            for key in (content(row, keys) for row in (*found, *expected))
            if comparable(of(key, found)) != comparable(of(key, expected))
        }
        shortest = min(wrong, key=lambda key: (sum(map(len, self._said(key))), str(key)))
        lines = [f"{len(wrong)} keys differ in {self.combination.name}", *self._said(shortest)]
        for title, rows in (("expected", expected), ("found", found)):
            mine = sorted(of(shortest, rows), key=lambda row: str(row.get("_valid_from")))
            lines += [f"{title}:", *(f"  {row}" for row in mine)]
        return "\n".join(lines)

    def _said(self, key: Any) -> list[str]:
        """Return what each run said of a key."""
        return [f"  {r.kind} {r.time}: {self._of(key, r.records) or 'absent'}" for r in self.runs]

    def _of(self, key: Any, rows: Iterable[Row]) -> list[Row]:
        """Return the rows, or the records, of a key."""
        return [row for row in rows if content(row, self.combination.options.keys) == key]

    def rows(self, snapshot: int | None = None) -> list[Row]:
        """Return the whole table, at a snapshot of it if given."""
        options, columns = self.combination.options, self.combination.columns
        names = [name for name in columns if name not in options.except_columns]
        select = [
            f"CAST({n} AS timestamp_ntz) AS {n}" if columns[n] == "timestamp" else n for n in names
        ]
        shown = [] if options.mode == "append" else [*CONTROL]
        shown += ["_is_deleted"] if options.deletes == "mark" else []
        at = "" if snapshot is None else f" VERSION AS OF {snapshot}"
        query = f"SELECT {', '.join([*select, *shown])} FROM {self.table}{at}"
        return [row.asDict(recursive=True) for row in self.spark.sql(query).collect()]

    def states(self) -> list[list[Row]]:
        """Return the whole table at every state that main ever had."""
        ids = self.spark.sql(f"SELECT DISTINCT snapshot_id FROM {self.table}.history").collect()
        return [self.rows(row["snapshot_id"]) for row in ids]

    def assert_sound(self) -> None:
        """Check the invariants of every state of main, one for each run that has committed."""
        assert self.assert_states_sound() == sum(done.committed for done in self.results)

    def assert_states_sound(self) -> int:
        """Check the invariants of every state of main; return the number of states."""
        states = self.states()
        for rows in states:
            if self.combination.options.mode != "append":
                self._assert_no_equal_neighbours(self.intervals(rows))
            if self.combination.options.mode == "scd1":
                assert all(row["_is_current"] for row in rows)
        return len(states)

    def assert_replays(self) -> None:
        """Merge each published run again, with its id: nothing moves."""
        heads = [main_snapshot(self.spark, self.table)]
        for batch, result in zip(self.batches, self.results, strict=True):
            if result.committed:
                assert not self.attempt(batch).committed
                heads.append(main_snapshot(self.spark, self.table))
        assert len({*heads}) == 1

    def assert_rebuilds(self, again: Collection[str] = ()) -> None:
        """Derive the table and its journal again from the landed runs: no row differs.

        Runs that were planned `again`, next to another one, may have unneeded journal entries of
        their first attempt; a rebuild removes them.
        """
        contract, before = self.combination.contract, self._entries_by_run()
        runs = [MergedRun(contract, batch) for batch in self.batches]
        found = rebuild.rebuild_table(self.spark, contract, runs, self.table, staging=self.staging)
        differs = (found.missing, found.wrong, found.journal_missing)
        assert (differs, found.committed) == ((0, 0, 0), False), found
        after = self._entries_by_run()
        changed = {run_id for run_id in before | after if before[run_id] != after[run_id]}
        assert bool(changed) == bool(found.journal_wrong), found
        assert changed <= {*again}, found

    def _entries_by_run(self) -> Counter[str]:
        """Count the different journal entries of each run."""
        journal, keys = layout.journal_table(self.table), ", ".join(self.combination.contract.keys)
        if not self.spark.catalog.tableExists(journal):
            return Counter()
        entry = f"struct({keys}, _op, _sequence, _ingested_at, _row_hash, _scopes)"
        query = f"SELECT _run_id, count(DISTINCT {entry}) FROM {journal} GROUP BY 1"
        return Counter(dict(map(tuple, self.spark.sql(query).collect())))

    def intervals(self, rows: Iterable[Row]) -> list[list[Row]]:
        """Return the versions of each key in order: half-open, not empty, without overlap."""
        by_key: dict[Any, list[Row]] = {}
        for row in rows:
            by_key.setdefault(content(row, self.combination.options.keys), []).append(row)
        for key, versions in by_key.items():
            versions.sort(key=lambda row: row["_valid_from"])
            for row in versions:
                assert row["_is_current"] == (row["_valid_to"] is None)
                assert row["_is_current"] or row["_valid_from"] < row["_valid_to"]
            for one, other in pairwise(versions):
                assert one["_valid_to"] is not None
                assert one["_valid_to"] <= other["_valid_from"], "\n".join(self._said(key))
        return [*by_key.values()]

    def _assert_no_equal_neighbours(self, by_key: Iterable[list[Row]]) -> None:
        compared = self._compared()
        for versions in by_key:
            for one, other in pairwise(versions):
                if one["_valid_to"] == other["_valid_from"]:
                    assert content(one, compared) != content(other, compared)

    def _compared(self) -> tuple[str, ...]:
        """The columns by which versions differ."""
        options = self.combination.options
        return (*tracked(stored(self.runs, options), options), "_is_deleted")
