"""What stories of late changes are told with: their contract, its options, records and runs.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

from lakekit.contract.contract import load_contract
from tests.spark.people import CONTRACT

TEXT = CONTRACT.replace(
    "  - {name: city, type: string}",
    "  - {name: city, type: string}\n  - {name: at, type: timestamp}\n"
    "  - {name: op, type: string}\n  - {name: seen, type: int}",
).replace(
    "keys: [id]",
    "keys: [id], sequence_by: at, apply_as_deletes: op = 'D', except_columns: [op], "
    "track_history_columns: [name]",
)
TIMED = load_contract(TEXT)
SCOPED = load_contract(TEXT.replace("keys: [id]", "keys: [id], delete_scope: [seen]"))


def at(day, name, **more):
    return {"id": 1, "name": name, "at": f"2026-01-{day:02}T00:00:00Z", **more}


def gone(day):
    return at(day, None, op="D")


def with_history(options):
    """The contract with more options; a scope is tracked."""
    tracked = "track_history_columns: [name, seen]" if "scope" in options else ""
    text = TEXT.replace("track_history_columns: [name]", tracked) if tracked else TEXT
    return load_contract(text.replace("keys: [id]", f"keys: [id], {options}"))


def told(load, kind, day, *records, promise=TIMED):
    return load(day, *records, extract=kind, promise=promise)
