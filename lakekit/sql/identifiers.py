"""The one place where names and values enter SQL text."""

from collections.abc import Iterable
from datetime import datetime

from lakekit.contract.partitions import PartitionField


def quote(name: str) -> str:
    """Quote one identifier.

    Example:
        >>> quote("order")
        '`order`'
    """
    return f"`{name.replace('`', '``')}`"


def quote_table(table: str) -> str:
    """Quote a dotted table identifier part by part."""
    return ".".join(quote(part) for part in table.split("."))


def quote_all(names: Iterable[str], prefix: str = "") -> str:
    """Quote names into a comma-separated list, each behind an alias if one is given."""
    return ", ".join(f"{prefix}{quote(name)}" for name in names)


def partition_field(field: PartitionField) -> str:
    """Return one field of `PARTITIONED BY`.

    Example:
        >>> partition_field(PartitionField("id", "bucket", 4))
        'bucket(4, `id`)'
    """
    if field.transform == "identity":
        return quote(field.column)
    width = f"{field.width}, " if field.width else ""
    return f"{field.transform}({width}{quote(field.column)})"


def literal(text: str) -> str:
    r"""Return a string literal of Spark SQL.

    Example:
        >>> literal("it's")
        "'it\\'s'"
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def ntz_literal(time: datetime) -> str:
    """Return a time without zone as a literal of Spark SQL.

    PySpark takes one of Python for a time in the zone of its process.

    Example:
        >>> ntz_literal(datetime(2026, 1, 1))
        "TIMESTAMP_NTZ '2026-01-01 00:00:00.000000'"
    """
    return f"TIMESTAMP_NTZ {literal(time.isoformat(sep=' ', timespec='microseconds'))}"


def same_key(keys: Iterable[str], left: str, right: str) -> str:
    """Return the join condition of two aliases over a natural key, which is never null."""
    return " AND ".join(f"{left}.{quote(key)} = {right}.{quote(key)}" for key in keys)
