"""What a table would have of a few pages: its current rows, and what would be rejected. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lakekit.contract.checks import FILE_POSITION
from lakekit.contract.contract import Contract
from lakekit.records.reader import TypedRecord
from lakekit.values import to_json


@dataclass(frozen=True)
class Trial:
    """The rows that would be current, in the order of their first records, and what else came.

    repeated: records of a key that another record of the key replaces or repeats.
    """

    rows: list[dict[str, Any]]
    rejected: list[TypedRecord]
    records: int
    repeated: int

    @property
    def faults(self) -> dict[str, int]:
        """How many records are rejected, by the reason."""
        return dict(Counter(each.fault or "" for each in self.rejected).most_common())


def run_trial(records: Sequence[TypedRecord], contract: Contract) -> Trial:
    """Return what a first merge of the records would leave current.

    Deletions of change extracts are not judged: they are kept as rows.
    """
    good = [each for each in records if each.fault is None]
    rejected = [each for each in records if each.fault is not None]
    rows = [each.values for each in good]
    if contract.history.mode != "append" or contract.keys:
        rows = _newest(rows, contract)
    stored = [column.name for column in contract.stored]
    shown = [{name: row[name] for name in stored} for row in rows]
    return Trial(shown, rejected, len(records), len(good) - len(shown))


def _newest(rows: Sequence[dict[str, Any]], contract: Contract) -> list[dict[str, Any]]:
    """Return the last row of each key: by event time, then by what breaks ties, then by place."""
    history = contract.history
    order = [*filter(None, [history.sequence_by])]
    order += [name for name in history.tie_break if name != FILE_POSITION]
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        key = to_json([row[name] for name in contract.keys])
        if key not in found or _rank(row, order) >= _rank(found[key], order):
            found[key] = row
    return list(found.values())


def _rank(row: dict[str, Any], order: Sequence[str]) -> tuple[tuple[bool, Any], ...]:
    return tuple((row[name] is not None, _comparable(row[name])) for name in order)


def _comparable(value: Any) -> Any:
    if value is None:
        return 0
    return to_json(value) if isinstance(value, dict | list) else value
