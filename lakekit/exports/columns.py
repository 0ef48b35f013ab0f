"""The columns of a table as its readers see them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from lakekit.contract.contract import Contract
from lakekit.contract.sqltypes import SqlType, parse_type
from lakekit.sql.tables import control_ddl

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
