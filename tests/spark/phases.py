"""The phases of the commit protocol and the scans of a table, each open to what may happen then."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from lakekit.spark import merge_scd2 as scd2
from lakekit.spark.journal import Facts
from lakekit.spark.write import publish
from lakekit.spark.write import write as writing

# What is called next when a phase has ended; of the last one, what ended it.
NEXT = {
    "pin": (scd2, "plan_run"),
    "plan": (scd2, "publish"),
    "branch": (Facts, "remember"),
    "facts": (publish, "write"),
    "merge": (writing, "_append"),
    "append": (publish, "_check"),
    "check": (publish, "fast_forward"),
    # Of a run that has only facts to tell.
    "told": (publish, "leave"),
}
PHASES = ["plan", "branch", "merge", "append", "check", "fast-forward"]


def ann(city: str, day: int) -> dict[str, Any]:
    return {"id": 1, "name": "Ann", "city": city, "at": f"2026-01-{day:02}T00:00:00Z"}


def ben(city: str, day: int) -> dict[str, Any]:
    return {"id": 2, "name": "Ben", "city": city, "at": f"2026-01-{day:02}T00:00:00Z"}


def compaction(table: str) -> str:
    name = table.removeprefix("lake.")
    options = "options => map('rewrite-all', 'true')"
    return f"CALL lake.system.rewrite_data_files(table => '{name}', {options})"


def expiry(table: str) -> str:
    name = table.removeprefix("lake.")
    older = "older_than => TIMESTAMP '9999-01-01 00:00:00'"
    return f"CALL lake.system.expire_snapshots(table => '{name}', retain_last => 1, {older})"


class Crash(BaseException):
    """The process is gone: no handler of errors sees it."""


@contextmanager
def crash_at_the_end_of(monkeypatch: pytest.MonkeyPatch, phase: str) -> Iterator[None]:
    """End the next merge as a killed process does."""
    with killed_at_the_end_of(monkeypatch, phase), pytest.raises(Crash):
        yield


@contextmanager
def killed_at_the_end_of(monkeypatch: pytest.MonkeyPatch, phase: str) -> Iterator[None]:
    """Let the next merge raise Crash if it comes there: its branch and its staged files stay."""

    def crash() -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(publish, "give_up", lambda *_, **__: None)
        patch.setattr(scd2, "drop_staging", lambda *_: None)
        at_the_end_of(patch, phase, crash)
        yield


def at_the_end_of(monkeypatch: pytest.MonkeyPatch, phase: str, event: Callable[[], Any]) -> None:
    """Let something happen once, when the next merge has come to the end of a phase."""
    place, name = NEXT.get(phase, (publish, "fast_forward"))
    real, met = getattr(place, name), []

    def once() -> None:
        if not met:
            met.append(phase)
            event()

    def called(*arguments: Any) -> Any:
        if phase in NEXT:
            once()
            return real(*arguments)
        done = real(*arguments)
        once()
        return done

    monkeypatch.setattr(place, name, called)


class _BeforeScans:
    """A listener of Iceberg, which waits for it: what a scan will see is settled."""

    def __init__(self, table: str, event: Callable[[], Any]) -> None:
        self._table, self._event, self._busy = table, event, False

    def notify(self, scan: Any) -> None:
        # What only lists files has this name too.
        reads_rows = scan.projection().findField("_valid_from") is not None
        if scan.tableName() == self._table and reads_rows and not self._busy:
            self._busy = True
            self._event()
            self._busy = False

    class Java:
        implements = ("org.apache.iceberg.events.Listener",)


@contextmanager
def before_scans(spark: SparkSession, table: str, event: Callable[[], Any]) -> Iterator[None]:
    """Let something happen whenever files of a table are about to be planned by what they were."""
    session: Any = spark
    ensure_callback_server_started(session.sparkContext._gateway)
    events, kind = session._jvm.org.apache.iceberg.events, session._jvm.java.lang.Class.forName
    events.Listeners.register(
        _BeforeScans(table, event), kind("org.apache.iceberg.events.ScanEvent")
    )
    try:
        yield
    finally:
        # Iceberg has no call that takes a listener back.
        known = kind("org.apache.iceberg.events.Listeners").getDeclaredField("LISTENERS")
        known.setAccessible(True)
        known.get(None).clear()


def assert_sound(spark: SparkSession, table: str) -> None:
    """Hold every state that main ever had against the invariants.

    Of one key no two versions hold at once, and of two that touch, the second says something new.
    """
    states = spark.sql(f"SELECT DISTINCT snapshot_id FROM {table}.history").collect()
    rows = " UNION ALL ".join(
        f"SELECT {state[0]} AS state, id, _is_current, _valid_from, _valid_to, "
        "struct(name, city) AS said "
        f"FROM {table} VERSION AS OF {state[0]}"
        for state in states
    )
    following = "OVER (PARTITION BY state, id ORDER BY _valid_from)"
    beside = (
        f"SELECT *, lead(_valid_from) {following} AS next_from, lead(said) {following} AS next "
        f"FROM ({rows})"
    )
    wrong = (
        "_is_current != (_valid_to IS NULL)",
        "_valid_to <= _valid_from",
        "next_from IS NOT NULL AND coalesce(next_from < _valid_to, true)",
        "next_from = _valid_to AND next <=> said",
    )
    odd = " OR ".join(f"({each})" for each in wrong)
    assert not spark.sql(f"SELECT * FROM ({beside}) WHERE {odd}").collect()
