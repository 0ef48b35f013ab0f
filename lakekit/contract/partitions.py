"""Partition fields as a contract writes them: a stored column, or one of Iceberg's transforms."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from lakekit.contract.sqltypes import SqlType
from lakekit.models import Fault

_TIMESTAMPS = ("timestamp", "timestamp_ntz")
_COUNTED = ("tinyint", "smallint", "int", "bigint", "decimal", "string", "binary")
_DATED = ("date", *_TIMESTAMPS)
_FIT = {
    "years": _DATED, "months": _DATED, "days": _DATED, "hours": _TIMESTAMPS,
    "bucket": (*_COUNTED, *_DATED), "truncate": _COUNTED,
}  # fmt: skip
_TIMES = ("years", "months", "days", "hours")
_SIZED = ("bucket", "truncate")
_NESTED = ("array", "map", "struct")
_COLUMN = r"(?P<tick>`?)(?P<column>[A-Za-z_][A-Za-z0-9_]*)(?P=tick)"
_PLAIN = re.compile(_COLUMN)
_TRANSFORM = re.compile(
    rf"(?P<name>\w+)\s*\(\s*((?P<before>\d+)\s*,\s*)?{_COLUMN}\s*(,\s*(?P<after>\d+)\s*)?\)"
)


@dataclass(frozen=True)
class PartitionField:
    """A column and what is made of it; `width` is that of `bucket` and `truncate`."""

    column: str
    transform: str = "identity"
    width: int = 0


def parse_partition_field(text: str) -> PartitionField:
    """Parse one entry of `partition_by`, or one field as a table shows it.

    Raises:
        ValueError: It is neither a column nor a transform of Iceberg.

    Example:
        >>> parse_partition_field("day(at)")
        PartitionField(column='at', transform='days', width=0)
    """
    if plain := _PLAIN.fullmatch(text.strip()):
        return PartitionField(plain["column"])
    found = _TRANSFORM.fullmatch(text.strip())
    name = found["name"].lower() if found else ""
    name = f"{name}s" if f"{name}s" in _TIMES else name
    widths = [w for w in (found["before"], found["after"]) if w] if found else []
    if not found or name not in _FIT or len(widths) != (name in _SIZED) or widths == ["0"]:
        raise ValueError(
            f"'{text}' is not a partition field; write a column, {'(col), '.join(_TIMES)}(col), "
            "bucket(n, col) or truncate(n, col)"
        )
    return PartitionField(found["column"], name, int(widths[0]) if widths else 0)


def _checked(text: str) -> str:
    parse_partition_field(text)
    return text


PartitionText = Annotated[str, AfterValidator(_checked)]


def same_partition(one: PartitionField, other: PartitionField) -> bool:
    """Say whether two fields are one to Iceberg, which does not count the case of a column."""
    return (one.column.lower(), one.transform, one.width) == (
        other.column.lower(), other.transform, other.width)  # fmt: skip


def partition_faults(
    entries: Iterable[str | None], stored: Mapping[str | None, SqlType | None]
) -> Iterator[Fault]:
    """Yield which entries of `table.partition_by` do not fit the table.

    Args:
        entries: As they stand in the contract; None where one did not parse.
        stored: The stored columns; a name or a type that did not parse is None.
    """
    seen: set[tuple[str, str]] = set()
    for position, text in enumerate(entries):
        if text is None:
            continue
        field = parse_partition_field(text)
        way = (field.column, "time" if field.transform in _TIMES else field.transform)
        for message in _misfits(field, stored):
            yield Fault(("table", "partition_by", position), message)
        if way in seen:
            message = f"'{text}' splits '{field.column}' a second time; keep one of the two"
            yield Fault(("table", "partition_by", position), message)
        seen.add(way)


def _misfits(field: PartitionField, stored: Mapping[str | None, SqlType | None]) -> Iterator[str]:
    # A column whose name did not parse may be the one that is meant.
    if field.column not in stored and None not in stored:
        yield f"'{field.column}' is not a stored column of the schema"
    kind = stored.get(field.column)
    if kind is None:
        return
    if field.transform == "identity" and kind.name in _NESTED:
        yield f"'{field.column}' is {kind}, which cannot split a table"
    if field.transform in _FIT and kind.name not in _FIT[field.transform]:
        must = f"it must be one of {', '.join(_FIT[field.transform])}"
        yield f"'{field.column}' is {kind}; for {field.transform} {must}"
