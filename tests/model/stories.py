"""Short names to write a history in: records, runs, and the versions of one key."""

from typing import Any

from tests.model.terms import Options, Record, Row, Run

SEQ = Options(keys=("k",), sequence_by="s")
CDC = Options(
    keys=("k",),
    sequence_by="s",
    apply_as_deletes=lambda r: r.get("op") == "D",
    except_columns=("op",),
)
PLAIN = Options(keys=("k",))
NAN = float("nan")


def rec(s: Any, v: Any, k: Any = 1, **more: Any) -> Record:
    return {"k": k, "s": s, "v": v, **more}


def dele(s: Any, k: Any = 1) -> Record:
    return {"k": k, "s": s, "v": None, "op": "D"}


def changes(time: int, *records: Record) -> Run:
    return Run("changes", time, records)


def incremental(time: int, *records: Record) -> Run:
    return Run("incremental", time, records)


def full(time: int, *records: Record) -> Run:
    return Run("full", time, records)


def spans(rows: list[Row], k: Any = 1) -> list[tuple[Any, Any, Any]]:
    for row in rows:
        assert row["_is_current"] == (row["_valid_to"] is None)
    mine = [row for row in rows if row["k"] == k]
    return [(row["v"], row["_valid_from"], row["_valid_to"]) for row in mine]
