"""A key as a person writes it, as conditions over columns of their types."""

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from lakekit.contract.sqltypes import SqlType, parse_type
from lakekit.duckdb.tables import Table
from lakekit.errors import InvalidStepInputError
from lakekit.sql.queries import double_quote, text_literal

_TYPES = {
    "string": "VARCHAR", "boolean": "BOOLEAN", "int": "INTEGER", "bigint": "BIGINT",
    "float": "FLOAT", "double": "DOUBLE", "date": "DATE", "timestamp": "TIMESTAMPTZ",
    "timestamp_ntz": "TIMESTAMP", "binary": "BLOB",
}  # fmt: skip


def key_conditions(table: Table, key: Mapping[str, str]) -> tuple[list[str], dict[str, Any]]:
    """Return conditions of SQL over the columns of a key, and the values of their parameters.

    A text is a value as `lakekit.values` writes it.

    Raises:
        InvalidStepInputError: A column is none of the key, or a text is no value of its type.
    """
    conditions, values = [], {}
    for number, (given, written) in enumerate(key.items()):
        column = _column(table, given)
        kind = parse_type(table.types[column])
        value = _value(kind, written, column)
        if (shown := _literal(value)) is None:
            shown = f"$k{number}"
            values[f"k{number}"] = value
        conditions.append(f"{double_quote(column)} = CAST({shown} AS {_type(kind)})")
    return conditions, values


def _literal(value: Any) -> str | None:
    """Return a text or a whole number as SQL, else None: it is a parameter.

    For a parameter DuckDB imports pandas where it is installed, which takes over a second.
    """
    if type(value) is int:
        return str(value)
    return text_literal(value) if isinstance(value, str) and "\0" not in value else None


def _column(table: Table, given: str) -> str:
    of_key = table.keys or tuple(table.types)
    for column in of_key:
        if column.lower() == given.lower():
            return column
    near = get_close_matches(given.lower(), of_key, n=1)
    asked = f"did you mean {near[0]}? " if near else ""
    raise InvalidStepInputError(
        f"{table.name}: no key column '{given}'; {asked}its key is {', '.join(of_key)}"
    )


def _type(kind: SqlType) -> str:
    return str(kind) if kind.name == "decimal" else _TYPES[kind.name]


def _value(kind: SqlType, text: str, column: str) -> Any:
    parse = _PARSED.get(kind.name)
    if parse is None:
        raise InvalidStepInputError(f"{column}: a {kind} is no key to ask for; use lakekit sql")
    try:
        value = parse(text)
        if kind.name == "decimal":
            _refuse_rounding(kind, value)
    except (ValueError, ArithmeticError):
        raise InvalidStepInputError(f"{column}={text}: not a {kind}") from None
    return value


def _refuse_rounding(kind: SqlType, value: Decimal) -> None:
    sign = value.as_tuple()
    if not isinstance(sign.exponent, int) or sign.exponent < -kind.scale:
        raise ValueError


def _integer(bits: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"[+-]?\d{1,20}", text, re.ASCII):
            raise ValueError
        if not -(1 << (bits - 1)) <= int(text) < 1 << (bits - 1):
            raise ValueError
        return int(text)

    return parse


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError
    return text.lower() == "true"


def _time(text: str) -> datetime:
    """Return a time without zone, UTC."""
    time = datetime.fromisoformat(text)
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


_PARSED: Mapping[str, Callable[[str], Any]] = {
    "string": str, "boolean": _boolean, "int": _integer(32), "bigint": _integer(64), "float": float,
    "double": float, "decimal": Decimal, "date": date.fromisoformat, "timestamp": _time,
    "timestamp_ntz": _time, "binary": lambda text: b64decode(text, validate=True),
}  # fmt: skip
