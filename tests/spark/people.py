"""The contract of people that most tests merge by, its variants, and three of these people."""

from lakekit.contract.contract import load_contract

CONTRACT = """
contract: people
source: people_api
endpoint: {path: /people}
schema:
  - {name: id, type: int}
  - {name: name, type: string}
  - {name: city, type: string}
history: {keys: [id], max_deleted_ratio: 1}
quality: {max_rejected_ratio: 0.6}
"""
TIMED_TEXT = CONTRACT.replace(
    "  - {name: city, type: string}",
    "  - {name: city, type: string}\n  - {name: at, type: timestamp}",
).replace("keys: [id]", "keys: [id], sequence_by: at")
TIMED = load_contract(TIMED_TEXT)
# A record that says what is known leaves the table as it is; only the companion knows of it.
SILENT = load_contract(TIMED_TEXT.replace("sequence_by: at", "sequence_by: at, untracked: ignore"))
REFUSED = load_contract(
    TIMED_TEXT.replace(
        "sequence_by: at",
        "sequence_by: at, late_changes: quarantine, apply_as_deletes: name = 'gone'",
    )
)

ANN = {"id": 1, "name": "Ann", "city": "Oslo"}
BEN = {"id": 2, "name": "Ben", "city": "Bonn"}
CAT = {"id": 3, "name": "Cat", "city": "Rome"}
# The versions after Ann has moved on the second day.
MOVED = [
    (1, "Ann", "Oslo", 1, 2, False),
    (1, "Ann", "Rome", 2, None, True),
    (2, "Ben", "Bonn", 1, None, True),
]
