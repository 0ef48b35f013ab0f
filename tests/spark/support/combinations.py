"""The contracts under which random histories are merged, each with the model's options for it."""

from dataclasses import dataclass, field
from typing import Any

from lakekit.contract.contract import Contract
from tests.model.terms import Options
from tests.spark.support.people import people

TYPES = {
    "region": "string",
    "id": "int",
    "at": "timestamp",
    "op": "string",
    "n": "int",
    "name": "string",
    "price": "decimal(12,3)",
    "score": "double",
    "place": "struct<x:double,note:string>",
    "tags": "array<string>",
    "props": "map<string,int>",
    "seen": "int",
}
CHANGES = {"sequence_by": "at", "apply_as_deletes": "op = 'D'", "except_columns": ["op"]}
ONLY_CHANGES = ("changes",)
ALL_KINDS = ("full", "incremental", "changes")
MOVED = ("incremental", "changes")


@dataclass(frozen=True)
class Combination:
    """A history section, the kinds of extracts under it, and how wild the records are."""

    name: str
    history: dict[str, Any]
    kinds: tuple[str, ...] = ALL_KINDS
    late: bool = True  # records may be older than current rows; runs arrive in any order
    faults: bool = False  # null keys, null sequences, values that do not fit
    ties: bool = True  # records of one key and event time may differ
    types: dict[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()  # columns that the contract does not have

    @property
    def columns(self) -> dict[str, str]:
        """Name and type of every column."""
        known = {**TYPES, **self.types}
        return {name: kind for name, kind in known.items() if name not in self.without}

    @property
    def contract(self) -> Contract:
        """The contract that a person would write."""
        return people(base=self.columns, quality={"max_rejected_ratio": 1}, **self.history)

    @property
    def options(self) -> Options:
        """The same as options of the model."""
        words = {"keys": ["id"], **self.history}
        given = {k: tuple(v) if isinstance(v, list) else v for k, v in words.items()}
        if "apply_as_deletes" in given:
            given["apply_as_deletes"] = lambda record: record["op"] == "D"
        if "track_history_columns" in given:
            given["tracked"] = given.pop("track_history_columns")
        given["tracked_except"] = given.pop("track_history_except", ())
        return Options(**given)


TRACKED = {"track_history_columns": ["name", "score", "props"]}
SCOPED = {"delete_scope": ["region"]}
KEYED = {"delete_scope": ["region"], "keys": ["region", "id"]}
PARTIAL = {"ignore_null_updates": True}
DEFAULT = (
    Combination(
        "by_extraction_time",
        {"keys": ["region", "id"]},
        ("full", "incremental"),
        late=False,
        faults=True,
    ),
    Combination("all_kinds", {**CHANGES, "keys": ["region", "id"]}, faults=True),
    Combination(
        "scope_tie_columns", {**CHANGES, **TRACKED, **SCOPED, "tie_break": ["n", "file_position"]}
    ),
    Combination("partial_mark", {**CHANGES, **PARTIAL, "deletes": "mark"}, MOVED, faults=True),
    Combination("late_quarantine", {**CHANGES, "late_changes": "quarantine"}, faults=True),
    Combination("latest", {**CHANGES, "mode": "scd1"}, MOVED, faults=True),
    Combination("append", {"mode": "append", "sequence_by": "at"}, ("incremental",), ties=False),
)
# Only for `make test-long`: single options of the others, and other types of time.
LONG = (
    Combination("mark_overwrite", {**CHANGES, **TRACKED, "deletes": "mark"}),
    Combination("keep_first", {**CHANGES, **TRACKED, "untracked": "ignore"}),
    Combination("scope_mark", {**CHANGES, **SCOPED, "deletes": "mark"}, faults=True),
    Combination("append_all", {"mode": "append", "keys": []}, ("incremental",), late=False),
    Combination("in_order", {**CHANGES}, late=False, faults=True),
    Combination("changes", {**CHANGES}, ONLY_CHANGES),
    Combination("overwrite", {**CHANGES, **TRACKED}, ONLY_CHANGES),
    Combination("overwrite_faults", {**CHANGES, **TRACKED}, faults=True),
    Combination("all_but_some", {**CHANGES, "track_history_except": ["seen", "place"]}),
    Combination("mark", {**CHANGES, "deletes": "mark"}),
    Combination("mark_by_extraction_time", {"deletes": "mark"}, ("full",), late=False),
    Combination("no_deletes", {**CHANGES, "deletes": "ignore"}),
    Combination("scope", {**CHANGES, **SCOPED}, faults=True),
    Combination("partial", {**CHANGES, **PARTIAL}, ONLY_CHANGES),
    Combination("partial_in_order", {**CHANGES, **PARTIAL}, MOVED, late=False),
    Combination("partial_by_extraction_time", {**PARTIAL}, ("incremental",), late=False),
    Combination("partial_tracked", {**CHANGES, **PARTIAL, **TRACKED}, MOVED),
    Combination("scope_tracked_mark", {**CHANGES, **TRACKED, **SCOPED, "deletes": "mark"}),
    Combination("tie_columns", {**CHANGES, "tie_break": ["n", "file_position"]}),
    Combination("late_quarantine_moved", {**CHANGES, "late_changes": "quarantine"}, MOVED),
    Combination("late_ignore", {**CHANGES, "late_changes": "ignore"}, MOVED),
    Combination("late_ignore_full_mark", {**CHANGES, "late_changes": "ignore", "deletes": "mark"}),
    Combination(
        "latest_late_quarantine",
        {**CHANGES, "mode": "scd1", "late_changes": "quarantine"},
        faults=True,
    ),
    Combination("latest_late_ignore", {**CHANGES, "mode": "scd1", "late_changes": "ignore"}, MOVED),
    Combination("keyed_scope", {**CHANGES, **KEYED}),
    Combination(
        "late_quarantine_tracked", {**CHANGES, **TRACKED, "late_changes": "quarantine"}, faults=True
    ),
    Combination(
        "late_ignore_keep_first",
        {**CHANGES, **TRACKED, "late_changes": "ignore", "untracked": "ignore"},
    ),
    Combination("scope_by_extraction_time", {**SCOPED}, ("full", "incremental"), late=False),
    Combination("late_ignore_partial", {**CHANGES, **PARTIAL, "late_changes": "ignore"}, MOVED),
    Combination(
        "late_quarantine_partial", {**CHANGES, **PARTIAL, "late_changes": "quarantine"}, MOVED
    ),
    Combination("by_day", {**CHANGES}, types={"at": "date"}),
    Combination("without_zone", {**CHANGES, "deletes": "mark"}, types={"at": "timestamp_ntz"}),
    # In order only: a late deletion that a full extract contradicts does not change the row.
    Combination("latest_of_all_kinds", {**CHANGES, "mode": "scd1"}, late=False, faults=True),
    Combination("latest_by_extraction_time", {"mode": "scd1"}, ("full", "incremental"), late=False),
    Combination("latest_tie_columns", {**CHANGES, "mode": "scd1", "tie_break": ["n"]}, MOVED),
    Combination(
        "append_faults", {"mode": "append", "sequence_by": "at"}, ("incremental",), faults=True
    ),
    Combination("append_first", {"mode": "append"}, ("incremental",), late=False, ties=False),
)
