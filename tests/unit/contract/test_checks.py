"""Options of a history that are refused because the merge could not do what they say."""

import pytest
import yaml
from pydantic import ValidationError

from lakekit.contract.contract import load_contract
from lakekit.contract.history import History
from lakekit.errors import InvalidContractError

TYPES = {
    "id": "int",
    "at": "timestamp",
    "n": "int",
    "score": "double",
    "ratio": "float",
    "local": "timestamp_ntz",
    "raw": "binary",
    "tags": "array<string>",
    "price": "decimal(12,3)",
    "day": "date",
    "open": "boolean",
    "name": "string",
    "place": "struct<x:int,tags:array<string>>",
    "props": "map<string,int>",
    "deep": "struct<list:array<map<string,int>>>",
    "file_position": "map<string,int>",
}
SCOPES = "it must be one of string, boolean, tinyint, smallint, int, bigint, decimal, date"
LAST = "history.tie_break: file_position must be the last: no two records have the same"
STORED = "history.tie_break: 'n' decides between records and must be stored"
LATE = "history.late_changes: mode append inserts what is new, however late it comes"
SCOPED = "history.late_changes: with delete_scope it must be exact"
LATEST = {
    "ignore_null_updates": "history.ignore_null_updates: scd1 keeps no version to fill a partial "
    "record from; use mode scd2",
    "delete_scope": "history.delete_scope: scd1 keeps no version to judge a scope by; use mode "
    "scd2, or a table per scope",
}
TIES = "history.tie_break: must be a list of columns, the deciding one first: [n, file_position]"
HIDDEN = (
    "history.delete_scope: 'n': with untracked: ignore it must be a key or tracked, as an extract "
    "is judged by it"
)

PARTIAL = {"ignore_null_updates": True, "sequence_by": "at", "untracked": "ignore"}
NOT_KEPT = (
    "history.untracked: with ignore_null_updates it must be overwrite: what a null of 'n', 'day' "
    "stands for would not be kept"
)


def written(extract: str = "changes", **history) -> str:
    document = {
        "contract": "people",
        "source": "people_api",
        "endpoint": {"path": "/people", "extract": extract},
        "schema": [{"name": name, "type": kind} for name, kind in TYPES.items()],
        "history": {"keys": ["id"], **history},
    }
    return yaml.safe_dump(document)


def faults(**history) -> list[str]:
    with pytest.raises(InvalidContractError) as fault:
        load_contract(written(**history), name="people.yaml")
    return [line.removeprefix("people.yaml: ") for line in str(fault.value).splitlines()]


@pytest.mark.parametrize(
    "tie_break",
    [["file_position", "n"], ["at", "file_position", "n"], ["file_position", "n", "at"]],
)
def test_nothing_comes_after_the_position(tie_break):
    assert faults(tie_break=tie_break) == [LAST]


def test_the_position_twice_is_one_fault():
    twice = ["file_position", "file_position"]

    assert faults(tie_break=twice) == ["history.tie_break: a column stands twice"]


@pytest.mark.parametrize("mode", ["scd2", "scd1", "append"])
@pytest.mark.parametrize("sequence_by", ["at", None])
def test_what_decides_between_records_is_stored(mode, sequence_by):
    hidden = {"tie_break": ["n", "file_position"], "except_columns": ["n"]}

    assert faults(mode=mode, sequence_by=sequence_by, **hidden) == [STORED]


@pytest.mark.parametrize("name", ["props", "deep"])
def test_maps_are_not_compared(name):
    assert faults(tie_break=[name]) == [
        f"history.tie_break: '{name}' is {TYPES[name]}; maps cannot be compared"
    ]


@pytest.mark.parametrize("name", ["score", "ratio", "at", "local", "raw", "tags", "props", "place"])
def test_a_scope_is_of_a_type_whose_equal_values_have_one_text(name):
    assert faults(delete_scope=[name, "n"]) == [
        f"history.delete_scope: '{name}' is {TYPES[name]}; {SCOPES}"
    ]


@pytest.mark.parametrize("policy", ["quarantine", "ignore"])
def test_nothing_is_late_where_all_is_appended(policy):
    assert faults(mode="append", sequence_by="at", late_changes=policy) == [LATE]


@pytest.mark.parametrize("policy", ["quarantine", "ignore"])
def test_late_changes_of_scopes_are_exact(policy):
    assert faults(sequence_by="at", late_changes=policy, delete_scope=["n"]) == [SCOPED]


@pytest.mark.parametrize(
    ("option", "value"), [("ignore_null_updates", True), ("delete_scope", ["n"])]
)
def test_scd1_has_no_versions_to_look_at(option, value):
    assert faults(mode="scd1", sequence_by="at", **{option: value}) == [LATEST[option]]


def test_a_null_of_a_full_extract_is_a_value():
    for given in (faults(extract="full", ignore_null_updates=True), _without_extract()):
        assert given == [
            "history.ignore_null_updates: a null in a full extract is a value; set "
            "endpoint.extract: incremental or changes"
        ]


def _without_extract() -> list[str]:
    text = written(ignore_null_updates=True).replace("  extract: changes\n", "")
    with pytest.raises(InvalidContractError) as fault:
        load_contract(text)
    return [str(fault.value).removeprefix("contract: ")]


def test_an_incremental_extract_deletes_nothing():
    assert faults(extract="incremental", apply_as_deletes="n = 1") == [
        "history.apply_as_deletes: an incremental extract deletes nothing; set endpoint.extract: "
        "changes"
    ]


@pytest.mark.parametrize(
    ("option", "value"), [("apply_as_deletes", "n = 1"), ("delete_scope", ["n"])]
)
def test_append_deletes_nothing(option, value):
    assert faults(mode="append", **{option: value}) == [
        f"history.{option}: mode append deletes nothing; leave it out"
    ]


def test_append_keeps_records_as_they_came():
    assert faults(mode="append", ignore_null_updates=True) == [
        "history.ignore_null_updates: append keeps no version to fill a partial record from; use "
        "mode scd2"
    ]


def test_absence_from_partial_records_says_nothing():
    assert faults(ignore_null_updates=True, delete_scope=["n"]) == [
        "history.delete_scope: partial records are never a full extract; leave it out"
    ]


@pytest.mark.parametrize("text", ["quarantine", "n"])
def test_columns_decide_between_records_of_one_time(text):
    assert faults(tie_break=text) == [TIES]


@pytest.mark.parametrize(
    "others", [{"track_history_columns": ["place"]}, {"track_history_except": ["n"]}]
)
def test_a_scope_shows_in_the_versions(others):
    assert faults(untracked="ignore", delete_scope=["n", "id"], **others) == [HIDDEN]


@pytest.mark.parametrize(
    "tracked",
    [
        {"track_history_columns": [name for name in TYPES if name not in ("n", "day", "at")]},
        {"track_history_except": ["n", "day", "at"]},
    ],
)
def test_what_is_not_kept_cannot_stand_for_a_null(tracked):
    assert faults(**PARTIAL, **tracked) == [NOT_KEPT]


def test_each_fault_is_reported_with_the_others():
    options = {"delete_scope": ["props"]}
    ties = {"tie_break": ["file_position", "n", "deep"], "except_columns": ["n"], "keyz": []}

    assert sorted(faults(**options, **ties)) == [
        f"history.delete_scope: 'props' is map<string,int>; {SCOPES}",
        "history.keyz: unknown field; did you mean 'keys'?",
        f"history.tie_break: 'deep' is {TYPES['deep']}; maps cannot be compared",
        STORED,
        LAST,
    ]


@pytest.mark.parametrize(
    "history",
    [
        {"tie_break": ["n"]},
        {"tie_break": ["at", "n", "file_position"]},
        {"tie_break": ["place"], "delete_scope": ["name", "open", "n", "price", "day"]},
        {"tie_break": []},
        # The position does not mean a column of that name.
        {"except_columns": ["file_position"]},
        {"mode": "scd2", "ignore_null_updates": True},
        {"mode": "append", "late_changes": "exact"},
        {"mode": "scd1", "late_changes": "quarantine"},
        {"untracked": "ignore", "delete_scope": ["n"]},
        {"untracked": "overwrite", "delete_scope": ["n"], "track_history_except": ["n"]},
        PARTIAL | {"untracked": "overwrite", "track_history_except": ["n"]},
        PARTIAL | {"track_history_except": ["at"]},
        PARTIAL | {"track_history_except": ["n"], "except_columns": ["n"]},
        PARTIAL,
        PARTIAL | {"extract": "incremental"},
        {"extract": "full", "ignore_null_updates": False, "apply_as_deletes": "n = 1"},
        {"extract": "incremental", "delete_scope": ["n"]},
    ],
)
def test_accepts_what_can_be_kept(history):
    assert load_contract(written(**history)).keys == ("id",)


def test_does_not_take_a_text_for_a_yes():
    [only] = faults(mode="scd1", ignore_null_updates="false", keyz=[])

    assert only.startswith("history.keyz")


def test_refuses_them_without_a_file_too():
    with pytest.raises(ValidationError, match="file_position must be the last"):
        History(keys=("id",), tie_break=("file_position", "n"))
