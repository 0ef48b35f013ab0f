"""Contracts, options, records and runs for the tests of late changes.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

from typing import Any

from lakekit.contract.contract import Contract
from tests.spark.support.people import COLUMNS, people

EVENTS = {**COLUMNS, "at": "timestamp", "op": "string", "seen": "int"}


def cdc(**changes: Any) -> Contract:
    """Return the contract of changes of people, by their own times; see `people`.

    Only the name is tracked.
    """
    history = {
        "sequence_by": "at",
        "apply_as_deletes": "op = 'D'",
        "except_columns": ["op"],
        "track_history_columns": ["name"],
    }
    return people(base=EVENTS, **{**history, **changes})


CDC = cdc()
# A scope that is tracked.
SCOPE = {"delete_scope": ["seen"], "track_history_columns": ["name", "seen"]}
SCOPED = cdc(delete_scope=["seen"])


def at(day, name, **more):
    return {"id": 1, "name": name, "at": f"2026-01-{day:02}T00:00:00Z", **more}


def deletion(day):
    return at(day, None, op="D")


def load_as(load, kind, day, *records, contract=CDC):
    return load(day, *records, extract=kind, contract=contract)
