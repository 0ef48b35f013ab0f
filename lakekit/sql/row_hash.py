"""The row hash as SQL text: a digest of columns in which null differs from all values.

Each column is hashed to 64 bits together with its name, and the hashes are joined by XOR; a null
adds nothing. So a column that is added, and null in every row, leaves all hashes as they are,
the order of columns does not matter, and a value that moves to another column shows.
"""

import hashlib
from collections.abc import Iterable

from lakekit.contract.contract import Column, Contract
from lakekit.contract.sqltypes import SqlType
from lakekit.sql.identifiers import quote

_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_NESTED = ("array", "map", "struct")


def row_hash(columns: Iterable[Column]) -> str:
    """Return the expression of the hash of some columns of a relation.

    Example:
        >>> row_hash([])
        '0L'
    """
    return " ^ ".join(_column_hash(column) for column in columns) or "0L"


def state_hash(contract: Contract, time: str = "__event_time") -> str:
    """Return the expression in which two states of a key differ, based on `_row_hash`.

    With a sequence, scd1 keeps the newest record even if it says what was known.
    """
    if contract.history.mode == "scd1" and contract.history.sequence_by:
        return f"xxhash64(_row_hash, {time})"
    return "_row_hash"


def _column_hash(column: Column) -> str:
    name = quote(column.name)
    value = canonical(name, column.sql_type)
    if column.sql_type.name in _NESTED:
        value = f"to_json({value}, map('ignoreNullFields', 'false'))"
    return f"if({name} IS NULL, 0L, xxhash64({_seed(column.name)}L, {value}))"


def canonical(value: str, kind: SqlType, depth: int = 0) -> str:
    """Return an expression in which equal values have equal bytes, in any session time zone."""
    name, inner = kind.name, f"x{depth}"
    if name in _INTEGERS:
        return f"CAST({value} AS bigint)"
    if name in ("float", "double"):
        # Turns -0.0 into 0.0; NaN stays, and all NaN have one hash.
        return f"if({value} = 0, 0D, CAST({value} AS double))"
    if name in ("decimal", "timestamp_ntz"):
        return f"CAST({value} AS string)"
    if name == "timestamp":
        return f"unix_micros({value})"
    return _canonical_nested(value, kind, inner, depth) if name in _NESTED else value


def _canonical_nested(value: str, kind: SqlType, inner: str, depth: int) -> str:
    if kind.name == "array":
        element = canonical(inner, kind.fields[0][1], depth + 1)
        return f"transform({value}, {inner} -> {element})"
    if kind.name == "struct":
        fields = ", ".join(
            f"'f{number}', {canonical(f'{value}.{quote(name)}', part, depth)}"
            for number, (name, part) in enumerate(kind.fields)
        )
        return f"if({value} IS NULL, NULL, named_struct({fields}))"
    key, item = (part for _, part in kind.fields)
    pair = (
        f"named_struct('k', {canonical(f'{inner}.key', key, depth + 1)}, "
        f"'v', {canonical(f'{inner}.value', item, depth + 1)})"
    )
    return f"array_sort(transform(map_entries({value}), {inner} -> {pair}))"


def _seed(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") >> 1
