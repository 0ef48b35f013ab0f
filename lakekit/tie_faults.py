"""What cannot decide between records of one moment: the faults of `tie_break`."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from lakekit.models import Fault
from lakekit.sqltypes import SqlType

FILE_POSITION = "file_position"


def tie_faults(
    options: Mapping[str, Any],
    named: Mapping[str, Sequence[str]],
    types: Mapping[str | None, SqlType | None],
    required: Collection[str | None],
) -> Iterator[Fault]:
    """Yield which columns of a tie-break do not fit the schema and the other options.

    Args:
        options: The history section.
        named: The columns that each of its options names.
        types: The columns of the schema.
        required: Those of them without which a record is rejected.
    """
    # Each once; the position is no column.
    names = dict.fromkeys(name for name in named["tie_break"] if name != FILE_POSITION)
    for name in names:
        kind = types.get(name)
        if kind and any(kind.maps()):
            yield _fault(f"'{name}' is {kind}; maps cannot be compared")
    for name in names:
        if name in named["except_columns"]:
            yield _fault(f"'{name}' decides between records and must be stored")
    if not _fills_the_only_row(options):
        return
    said = {*required, *named["keys"], *named["sequence_by"]}
    for name in names:
        if name in types and name not in said:
            yield _fault(
                f"'{name}' must be required with mode scd1 and ignore_null_updates: of a record "
                "that leaves it out, the row would show it as an older one said it"
            )


def position_faults(tie_break: Sequence[str]) -> Iterator[Fault]:
    """Yield that a column stands behind the position, where it would never decide."""
    behind = tie_break[tie_break.index(FILE_POSITION) :] if FILE_POSITION in tie_break else ()
    if any(name != FILE_POSITION for name in behind):
        yield _fault(f"{FILE_POSITION} must be the last: no two records have the same")


def _fills_the_only_row(options: Mapping[str, Any]) -> bool:
    """Whether a record is compared with a row that is all that is kept of partial ones."""
    compared = options["mode"] == "scd1" and options["sequence_by"] is not None
    late = options["late_changes"] in ("quarantine", "ignore")
    return compared and not late and options["ignore_null_updates"] is True


def _fault(message: str) -> Fault:
    return Fault(("history", "tie_break"), message)
