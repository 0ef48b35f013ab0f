"""The seams of `lakekit.spark` for tests: what counts as small, and the steps of a run.

No other module of the Spark tests patches a name of Lakekit. Sizes are fields of `Tuning`; the
others are in `THRESHOLDS`, and `STEPS` says where each step is.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

import pytest

from lakekit import health
from lakekit.spark import backfill, maintain_tables
from lakekit.spark import merge_scd2 as merging
from lakekit.spark.iceberg import baseline, branch
from lakekit.spark.journal import Journal
from lakekit.spark.late import events
from lakekit.spark.plan import plan, stage
from lakekit.spark.read import lines as reading
from lakekit.spark.rebuild import rebuild
from lakekit.spark.schema import create_tables, describe
from lakekit.spark.session import tuning
from lakekit.spark.session.tuning import Tuning
from lakekit.spark.skip import digests, lines
from lakekit.spark.write import publish, quarantine
from lakekit.spark.write import write as writing
from lakekit.sql import row_hash

Place = tuple[Any, str]

# Thresholds without a field in Tuning.
THRESHOLDS: dict[str, list[Place]] = {
    "most_broadcast": [(tuning, "MOST_BROADCAST")],
    # Bytes of narrow current versions for which lines are skipped, and from which share of them.
    "skipping_bytes": [(lines, "LARGE")],
    "skipping_share": [(lines, "ENOUGH")],
    "digest_places": [(digests, "PLACES")],
    "renew_after_days": [(lines, "RENEW_AFTER")],
    "merge_attempts": [(merging, "ATTEMPTS")],
    "maintenance_attempts": [(maintain_tables, "ATTEMPTS")],
    "many_manifests": [(health, "MANY_MANIFESTS")],
}
STEPS: dict[str, Place] = {
    # A run.
    "plan": (merging, "plan_run"),
    "publish": (merging, "publish"),
    "published runs": (merging, "published_runs"),
    "journal": (merging, "Journal"),
    "properties": (merging, "_recorded"),
    "drop staging": (merging, "drop_staging"),
    # Reading and staging.
    "skip lines": (stage, "read_changed"),
    "read all lines": (stage, "read_all"),
    "stage": (stage, "_stage"),
    "stage nothing": (stage, "_nothing"),
    "staged columns": (stage.order, "select_staged"),
    "number records": (stage, "with_position"),
    "write staged": (stage, "write_counted"),
    "write lists": (lines, "write_counted"),
    "lists of digests": (lines, "number_of_lists"),
    "line digest": (reading, "line_digest"),
    "column hash": (row_hash, "_column_hash"),
    "re-derive": (plan, "rederive"),
    "full extracts": (events, "full_extract_events"),
    # Writing.
    "record": (Journal, "append"),
    "open branch": (publish, "open_branch"),
    "write": (publish, "write"),
    "close versions": (writing, "_close"),
    "rewrite": (writing, "_overwrite"),
    "append": (writing, "_writer"),
    "check": (publish, "_check"),
    "check totals": (publish, "refuse_miscounted"),
    "totals": (publish, "_live"),
    "count rows": (publish, "count_rows"),
    "fast-forward": (publish, "fast_forward"),
    "close branch": (publish, "close_branch"),
    "abandon branch": (publish, "abandon_branch"),
    "commit branch": (branch, "committed"),
    "drop branch": (branch, "drop_branch"),
    "baseline": (baseline.Baseline, "is_unchanged"),
    "baseline of the journal": (baseline.Baseline, "_journal_writers"),
    "baseline of branches": (baseline, "_branches"),
    "read rejected": (quarantine, "read_records"),
    "rejected": (quarantine, "rejected"),
    # Evolution of a table.
    "describe table": (create_tables, "describe_table"),
    "columns": (create_tables, "columns_of"),
    "newest extract": (create_tables, "newest_extraction"),
    "known properties": (describe, "known_properties"),
    "change properties": (create_tables, "change_properties"),
    "statements": (create_tables, "_evolve_schema"),
    "wait": (create_tables, "sleep"),
    "backfilled": (backfill, "ended_by_full"),
    # A rebuild.
    "replace": (rebuild, "publish_replacement"),
    "hand over": (rebuild, "hand_over"),
}
# The step that begins when a phase of the commit protocol has ended.
NEXT = {
    "baseline": "plan",
    "plan": "publish",
    "branch": "record",
    "journal": "write",
    "merge": "append",
    "append": "check",
    "check": "fast-forward",
    # For a run that only writes to the journal.
    "journal alone": "close branch",
}
PHASES = ["plan", "branch", "merge", "append", "check", "fast-forward"]


_FIELDS = {field.name for field in fields(Tuning)}


def threshold(name: str) -> Any:
    """Return what counts as small now."""
    if name in _FIELDS:
        return getattr(merging.Tuning(), name)
    place, attribute = THRESHOLDS[name][0]
    return getattr(place, attribute)


def tune(monkeypatch: pytest.MonkeyPatch, **values: Any) -> None:
    """Let other sizes count as small, or as much."""
    of_tuning = {name: value for name, value in values.items() if name in _FIELDS}
    if of_tuning:
        # The default tuning of a run.
        now = replace(merging.Tuning(), **of_tuning)
        monkeypatch.setattr(merging, "Tuning", lambda: now)
    for name, value in values.items():
        for place, attribute in THRESHOLDS.get(name, []):
            monkeypatch.setattr(place, attribute, value)


def around(monkeypatch: pytest.MonkeyPatch, step: str, call: Callable[..., Any]) -> None:
    """Let a step of a run be `call(real, *arguments)`."""
    place, name = STEPS[step]
    real = getattr(place, name)

    def called(*arguments: Any, **options: Any) -> Any:
        return call(real, *arguments, **options)

    monkeypatch.setattr(place, name, called)


def after(
    monkeypatch: pytest.MonkeyPatch, step: str, event: Callable[[], Any], times: int = 1
) -> None:
    """Let something happen after each call of a step, so many times."""
    met: list[str] = []

    def call(real: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        done = real(*arguments, **options)
        if len(met) < times:
            met.append(step)
            event()
        return done

    around(monkeypatch, step, call)


def at_the_end_of(monkeypatch: pytest.MonkeyPatch, phase: str, event: Callable[[], Any]) -> None:
    """Let something happen once, when the next merge has come to the end of a phase."""
    if phase not in NEXT:
        return after(monkeypatch, phase, event)
    met: list[str] = []

    def call(real: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        if not met:
            met.append(phase)
            event()
        return real(*arguments, **options)

    return around(monkeypatch, NEXT[phase], call)


class Crash(BaseException):
    """The process is killed: no handler of errors sees it."""


@contextmanager
def crash_at_the_end_of(monkeypatch: pytest.MonkeyPatch, phase: str) -> Iterator[None]:
    """End the next merge as a killed process does."""
    with killed_at_the_end_of(monkeypatch, phase), pytest.raises(Crash):
        yield


@contextmanager
def killed_at_the_end_of(monkeypatch: pytest.MonkeyPatch, phase: str) -> Iterator[None]:
    """Let the next merge raise Crash if it reaches the phase: branch and staged files stay."""

    def crash() -> None:
        raise Crash

    with monkeypatch.context() as patch:
        around(patch, "abandon branch", lambda *_, **__: None)
        around(patch, "drop staging", lambda *_: None)
        at_the_end_of(patch, phase, crash)
        yield


@contextmanager
def without_new_properties(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End a run before it changes the properties of its table."""
    with monkeypatch.context() as patch:
        around(patch, "properties", lambda *_: {})
        yield


def parse_every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip no line of a full extract."""

    def parsed(_: Any, run: Any, current: Any) -> Any:
        return lines.read_all(run, current)

    around(monkeypatch, "skip lines", parsed)


def one_digest(monkeypatch: pytest.MonkeyPatch, *, unless: str = "") -> None:
    """Give all lines one first half of their digest, except for lines like a pattern."""

    def digest(real: Any, *asked: Any) -> list[str]:
        first, second = real(*asked)
        half, _, name = first.rpartition(" AS ")
        return [f"if(__raw LIKE '{unless}', {half}, 7L) AS {name}", second]

    around(monkeypatch, "line digest", digest)


def captured_plans(monkeypatch: pytest.MonkeyPatch, show: Callable[[Any], str]) -> list[str]:
    """Collect Spark's plans to stage change sets, as `show` gives them for a frame's execution."""
    plans: list[str] = []

    def select_staged(real: Any, *asked: Any) -> Any:
        frame = real(*asked)
        plans.append(show(frame._jdf.queryExecution()))
        return frame

    around(monkeypatch, "staged columns", select_staged)
    return plans
