"""Events during a merge, and whether the table is sound afterwards."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession


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


class _BeforeScans:
    """A listener of Iceberg, which waits for it: the snapshot of the scan is already chosen."""

    def __init__(self, table: str, event: Callable[[], Any]) -> None:
        self._table, self._event, self._busy = table, event, False

    def notify(self, scan: Any) -> None:
        # Scans that only list files have this name too.
        reads_rows = scan.projection().findField("_valid_from") is not None
        if scan.tableName() == self._table and reads_rows and not self._busy:
            self._busy = True
            self._event()
            self._busy = False

    class Java:
        implements = ("org.apache.iceberg.events.Listener",)


@contextmanager
def before_scans(spark: SparkSession, table: str, event: Callable[[], Any]) -> Iterator[None]:
    """Let something happen whenever the files of a scan of a table are about to be planned."""
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
    """Check every state that main ever had against the invariants.

    No two versions of a key overlap, and the second of two adjacent ones has other content.
    """
    states = spark.sql(f"SELECT DISTINCT snapshot_id FROM {table}.history").collect()
    rows = " UNION ALL ".join(
        f"SELECT {state[0]} AS state, id, _is_current, _valid_from, _valid_to, "
        "struct(name, city) AS said "
        f"FROM {table} VERSION AS OF {state[0]}"
        for state in states
    )
    following = "OVER (PARTITION BY state, id ORDER BY _valid_from)"
    neighbours = (
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
    assert not spark.sql(f"SELECT * FROM ({neighbours}) WHERE {odd}").collect()
