"""The columns of a table as its readers see them, with Athena's types."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from lakekit.contract.contract import Contract
from lakekit.contract.sqltypes import SqlType, parse_type
from lakekit.sql.tables import control_ddl

# Of Iceberg, which has no smaller integers.
_NAMES = {
    "string": "varchar", "tinyint": "integer", "smallint": "integer", "int": "integer",
    "float": "real", "timestamp": "timestamp(6) with time zone", "timestamp_ntz": "timestamp(6)",
    "binary": "varbinary",
}  # fmt: skip
_DDL = re.compile(r"(?P<type>\S+)(?: COMMENT '(?P<comment>.*)')?")


class ReadColumn(NamedTuple):
    """A column of a table; `never_null` if each row has a value."""

    name: str
    type: SqlType
    description: str
    never_null: bool = False


def columns_of(contract: Contract) -> Iterator[ReadColumn]:
    """Yield the columns of a table: those of its contract, then the control columns."""
    for column in contract.stored:
        never = column.required or (column.name in contract.keys)
        yield ReadColumn(column.name, column.sql_type, column.description, never)
    for name, ddl in control_ddl(contract).items():
        found = _DDL.fullmatch(ddl)
        assert found  # noqa: S101  DDL of our own
        never = name in ("_ingested_at", "_is_current", "_valid_from")
        yield ReadColumn(name, parse_type(found["type"]), found["comment"] or "", never)


def athena_type(kind: SqlType) -> str:
    """Return the type by which Athena shows a column.

    Example:
        >>> athena_type(parse_type("map<string,struct<a:int,b:decimal(9,2)>>"))
        'map(varchar, row(a integer, b decimal(9,2)))'
    """
    if kind.name == "struct":
        return f"row({', '.join(f'{name} {athena_type(part)}' for name, part in kind.fields)})"
    if kind.fields:
        return f"{kind.name}({', '.join(athena_type(part) for _, part in kind.fields)})"
    return _NAMES.get(kind.name, str(kind))
