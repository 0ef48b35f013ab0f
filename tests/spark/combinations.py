"""The contracts under which random histories are merged, each with the model's options for it."""

from dataclasses import dataclass, field
from typing import Any

import yaml

from lakekit.contracts import Contract, load_contract
from tests.model.terms import Options

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
    late: bool = True  # records may be older than what is known; runs arrive in any order
    faults: bool = False  # null keys, null sequences, values that do not fit
    ties: bool = True  # records of one key and moment may differ
    types: dict[str, str] = field(default_factory=dict)
    long: bool = False  # for `make test-long` alone: others have its options, by twos or threes

    @property
    def columns(self) -> dict[str, str]:
        """Name and type of every column."""
        return {**TYPES, **self.types}

    @property
    def contract(self) -> Contract:
        """The contract that a person would write."""
        document = {
            "contract": "people",
            "source": "people_api",
            "endpoint": {"path": "/people"},
            "schema": [{"name": name, "type": kind} for name, kind in self.columns.items()],
            "history": {"keys": ["id"], "max_deleted_ratio": 1, **self.history},
            "quality": {"max_rejected_ratio": 1},
        }
        return load_contract(yaml.safe_dump(document))

    @property
    def options(self) -> Options:
        """The same, in the model's words."""
        words = {"keys": ["id"], **self.history}
        given = {k: tuple(v) if isinstance(v, list) else v for k, v in words.items()}
        if "apply_as_deletes" in given:
            given["apply_as_deletes"] = lambda record: record["op"] == "D"
        if "track_history_columns" in given:
            given["tracked"] = given.pop("track_history_columns")
        given["tracked_except"] = given.pop("track_history_except", ())
        return Options(**given)


COMBINATIONS = (
    Combination("by_extraction_time", {}, ("full", "incremental"), late=False),
    Combination("two_keys", {"keys": ["region", "id"]}, ("full",), late=False, faults=True),
    Combination("all_kinds", {**CHANGES, "keys": ["region", "id"]}, faults=True),
    Combination("in_order", {**CHANGES}, late=False, faults=True, long=True),
    Combination("changes", {**CHANGES}, ONLY_CHANGES),
    Combination(
        "overwrite",
        {**CHANGES, "track_history_columns": ["name", "score", "props"]},
        ONLY_CHANGES,
    ),
    Combination("keep_first", {**CHANGES, "track_history_except": ["seen"], "untracked": "ignore"}),
    Combination("mark", {**CHANGES, "deletes": "mark"}, long=True),
    Combination("mark_by_extraction_time", {"deletes": "mark"}, ("full",), late=False),
    Combination("no_deletes", {**CHANGES, "deletes": "ignore"}, long=True),
    Combination("scope", {**CHANGES, "delete_scope": ["region"]}, ("full", "incremental")),
    Combination("partial", {**CHANGES, "ignore_null_updates": True}, ONLY_CHANGES),
    Combination(
        "partial_in_order", {**CHANGES, "ignore_null_updates": True}, late=False, long=True
    ),
    Combination("tie_columns", {**CHANGES, "tie_break": ["n", "file_position"]}),
    Combination("tie_quarantine", {**CHANGES, "tie_break": "quarantine"}, faults=True, long=True),
    Combination("late_quarantine", {**CHANGES, "late_changes": "quarantine"}, MOVED),
    Combination("late_ignore", {**CHANGES, "late_changes": "ignore"}, MOVED, long=True),
    Combination("by_day", {**CHANGES}, types={"at": "date"}, long=True),
    Combination("without_zone", {**CHANGES, "deletes": "mark"}, types={"at": "timestamp_ntz"}),
    Combination("latest", {**CHANGES, "mode": "scd1"}, ONLY_CHANGES, long=True),
    Combination("latest_of_all_kinds", {**CHANGES, "mode": "scd1"}, faults=True),
    Combination(
        "latest_by_extraction_time",
        {"mode": "scd1"},
        ("full", "incremental"),
        late=False,
        long=True,
    ),
    Combination("append", {"mode": "append", "sequence_by": "at"}, ("incremental",), ties=False),
    Combination(
        "append_first", {"mode": "append"}, ("incremental",), late=False, ties=False, long=True
    ),
    Combination("append_all", {"mode": "append", "keys": []}, ("incremental",), late=False),
)
