"""What does not fit together in a contract: columns that stand twice, options that disagree.

The parts come as a person wrote them, so that a fault of one field hides none of another. What
did not parse is None here, and what depends on it is not judged.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic_core import PydanticCustomError

from lakekit.contract.partitions import partition_faults
from lakekit.contract.sqltypes import SqlType, parse_type
from lakekit.models import BETWEEN_FIELDS, Fault

FILE_POSITION = "file_position"
NOT_KEYS = ("array", "map", "struct", "double", "float", "binary")
SEQUENCES = ("timestamp", "timestamp_ntz", "date")
# Equal values of others may be written in several ways, or different ones in the same.
SCOPES = ("string", "boolean", "tinyint", "smallint", "int", "bigint", "decimal", "date")
_NAMING = (
    "keys", "sequence_by", "track_history_columns", "track_history_except", "except_columns",
    "delete_scope", "tie_break",
)  # fmt: skip
# The times that every table with versions has in addition to the stored columns.
_TIMES: Mapping[str | None, SqlType | None] = dict.fromkeys(
    ("_ingested_at", "_valid_from", "_valid_to"), parse_type("timestamp_ntz")
)


class NamedType(NamedTuple):
    """What is known of a column."""

    name: str | None
    type: SqlType | None


def option_faults(options: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield which options of a history section disagree with each other."""
    mode, keys = options["mode"], options["keys"]
    if keys is not None and not keys and mode in ("scd2", "scd1"):
        yield Fault(("history",), f"keys: {mode} needs at least one column")
    if options["track_history_columns"] is not None and options["track_history_except"]:
        either = "give track_history_columns or track_history_except, not both"
        yield _fault("track_history_except", either)
    if options["deletes"] == "mark" and mode in ("scd1", "append"):
        yield _fault("deletes", "mark needs mode scd2; other modes have no versions to mark")
    yield from _refused_pairs(options)
    if _after_position(names_in(options, "tie_break")):
        message = f"{FILE_POSITION} must be the last: no two records have the same"
        yield _fault("tie_break", message)


def _refused_pairs(options: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the pairs of options that are not offered together, and what to use instead."""
    mode, scoped = options["mode"], bool(names_in(options, "delete_scope"))
    if options["late_changes"] in ("quarantine", "ignore"):
        if mode == "append":
            yield _fault("late_changes", "mode append inserts what is new, however late it comes")
        if scoped:
            yield _fault("late_changes", "with delete_scope it must be exact")
    partial = options["ignore_null_updates"] is True
    if mode in ("scd1", "append") and partial:
        must = f"{mode} keeps no version to fill a partial record from; use mode scd2"
        yield _fault("ignore_null_updates", must)
    if mode == "scd1" and scoped:
        must = "scd1 keeps no version to judge a scope by; use mode scd2, or a table per scope"
        yield _fault("delete_scope", must)
    for option in ("apply_as_deletes", "delete_scope") if mode == "append" else ():
        if options[option]:
            yield _fault(option, "mode append deletes nothing; leave it out")
    if partial and scoped:
        yield _fault("delete_scope", "partial records are never a full extract; leave it out")


def extract_faults(extract: object, options: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield which options of a history section have no meaning for the extracts of an endpoint."""
    if extract == "full" and options["ignore_null_updates"] is True:
        must = "a null in a full extract is a value; set endpoint.extract: incremental or changes"
        yield _fault("ignore_null_updates", must)
    if extract == "incremental" and isinstance(options["apply_as_deletes"], str):
        must = "an incremental extract deletes nothing; set endpoint.extract: changes"
        yield _fault("apply_as_deletes", must)


def column_faults(columns: Sequence[NamedType]) -> Iterator[Fault]:
    """Yield each column whose name another one before it has, or that no record could fill."""
    seen: set[str] = set()
    for position, column in enumerate(columns):
        name = (column.name or "").lower()
        if name in seen:
            message = f"{name} stands twice (case does not count)"
            yield Fault(("schema", position, "name"), message)
        if name:
            seen.add(name)
        maps = _maps(column.type) if column.type else ()
        if any(each.fields[0][1].name != "string" for each in maps):
            message = "the keys of a map must be string, as JSON has no others"
            yield Fault(("schema", position, "type"), message)


def fit_faults(options: Mapping[str, Any], columns: Sequence[NamedType]) -> Iterator[Fault]:
    """Yield which options of a history section do not fit the schema."""
    types = {column.name: column.type for column in columns}
    named = {option: names_in(options, option) for option in _NAMING}
    for option, names in named.items():
        if len(set(names)) < len(names):
            yield _fault(option, "a column stands twice")
        # A column whose name did not parse may be the one that is meant.
        if None not in types:
            yield from _unknown(option, names, types)
    yield from _wrong_types(named, types)
    yield from _hidden_scopes(options, named)
    yield from _dropped_values(options, named, types)
    for name in dict.fromkeys(named["except_columns"]):
        if name in named["keys"]:
            yield _fault("except_columns", f"'{name}' is a key and must be stored")
        if name in named["sequence_by"]:
            yield _fault("except_columns", f"'{name}' orders the records and must be stored")
        if name in named["delete_scope"]:
            yield _fault("delete_scope", f"'{name}' must be stored")
        if name in _columns_of_ties(named):
            yield _fault("tie_break", f"'{name}' decides between records and must be stored")


def table_faults(
    partition_by: Iterable[str | None], columns: Sequence[NamedType], hidden: Collection[str]
) -> Iterator[Fault]:
    """Yield which partition fields do not fit the columns that are stored."""
    stored = {column.name: column.type for column in columns if column.name not in hidden}
    return partition_faults(partition_by, {**_TIMES, **stored})


def names_in(options: Mapping[str, Any], option: str) -> list[str]:
    """Return the columns that an option names."""
    value = options[option]
    if isinstance(value, str):
        return [value] if option == "sequence_by" else []
    return [name for name in value or () if isinstance(name, str)]


def refuse(faults: Iterable[Fault]) -> None:
    """Raise what a validator of a whole model found, if anything.

    Raises:
        PydanticCustomError: With all faults; `FileModel.from_yaml` reports them one by one.
    """
    if found := "; ".join(map(str, faults)):
        raise PydanticCustomError(BETWEEN_FIELDS, found)


def _unknown(option: str, names: Sequence[str], known: Collection[str | None]) -> Iterator[Fault]:
    for name in dict.fromkeys(names):
        if name not in known and (option, name) != ("tie_break", FILE_POSITION):
            yield _fault(option, f"'{name}' is not a column of the schema")


def _wrong_types(
    named: Mapping[str, Sequence[str]], types: Mapping[str | None, SqlType | None]
) -> Iterator[Fault]:
    for key in dict.fromkeys(named["keys"]):
        kind = types.get(key)
        if kind and kind.name in NOT_KEYS:
            yield _fault("keys", f"'{key}' is {kind}, which cannot be a key")
    for option, allowed in (("sequence_by", SEQUENCES), ("delete_scope", SCOPES)):
        for name in dict.fromkeys(named[option]):
            kind = types.get(name)
            if kind and kind.name not in allowed:
                must = f"it must be one of {', '.join(allowed)}"
                yield _fault(option, f"'{name}' is {kind}; {must}")
    for name in _columns_of_ties(named):
        kind = types.get(name)
        if kind and any(_maps(kind)):
            yield _fault("tie_break", f"'{name}' is {kind}; maps cannot be compared")


def _hidden_scopes(
    options: Mapping[str, Any], named: Mapping[str, Sequence[str]]
) -> Iterator[Fault]:
    """Yield the scopes that no version would show once they have changed."""
    tracked, left_out = options["track_history_columns"], named["track_history_except"]
    if options["untracked"] != "ignore":
        return
    for name in dict.fromkeys(named["delete_scope"]):
        seen = name not in left_out if tracked is None else name in named["track_history_columns"]
        if name not in named["keys"] and not seen:
            must = "with untracked: ignore it must be a key or tracked"
            yield _fault("delete_scope", f"'{name}': {must}, as an extract is judged by it")


def _dropped_values(
    options: Mapping[str, Any], named: Mapping[str, Sequence[str]], known: Iterable[str | None]
) -> Iterator[Fault]:
    """Yield that nulls would mean what came before in columns whose changes are not kept."""
    drops = options["untracked"] == "ignore" and options["mode"] != "append"
    if not (drops and options["ignore_null_updates"]):
        return
    left_out = [name for name in known if name not in named["track_history_columns"]]
    if options["track_history_columns"] is None:
        left_out = list(named["track_history_except"])
    said = {*named["keys"], *named["sequence_by"], *named["except_columns"]}
    if names := ", ".join(f"'{name}'" for name in left_out if name and name not in said):
        must = "with ignore_null_updates it must be overwrite"
        yield _fault("untracked", f"{must}: what a null of {names} stands for would not be kept")


def _after_position(tie_break: Sequence[str]) -> bool:
    """Say whether a column stands behind the position, where it would never decide."""
    behind = tie_break[tie_break.index(FILE_POSITION) :] if FILE_POSITION in tie_break else ()
    return any(name != FILE_POSITION for name in behind)


def _columns_of_ties(named: Mapping[str, Sequence[str]]) -> Collection[str]:
    """Return the columns that decide between records, each once; the position is none."""
    return dict.fromkeys(name for name in named["tie_break"] if name != FILE_POSITION)


def _maps(kind: SqlType) -> Iterator[SqlType]:
    """Yield the maps that a type is or holds."""
    if kind.name == "map":
        yield kind
    for _, part in kind.fields:
        yield from _maps(part)


def _fault(option: str, message: str) -> Fault:
    return Fault(("history", option), message)
