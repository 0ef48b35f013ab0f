"""Rows conform to a schema: a contract's, or a table's, which may keep more."""

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import or_

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
)

from lakekit.contract.contract import RESERVED, Contract
from lakekit.errors import SchemaMismatchError
from lakekit.sql.identifiers import quote, quote_table

# Begins the name of what a column of the table holds in fields that the contract has dropped.
_KEPT = "__kept_"


def as_contract(stored: DataFrame, contract: Contract) -> DataFrame:
    """Return the rows of a table as its contract would make it.

    A column that is renamed has its new name, one that is new is null. Nested fields come in the
    contract's order: within maps a union takes them by their place. What the contract has dropped
    stays, fields within a column as one of their own; see `dropped_names`.
    """
    if renames := contract.renames(stored.columns):
        stored = stored.withColumnsRenamed(renames)
    have = {name.lower() for name in stored.columns}
    if lacks := [c for c in contract.stored if c.name.lower() not in have]:
        stored = stored.withColumns({c.name: F.lit(None).cast(c.type) for c in lacks})
    nested = [c for c in contract.stored if c.sql_type.fields and c.name in stored.columns]
    if not nested:
        return stored
    wanted = stored.select(*[F.lit(None).cast(c.type).alias(c.name) for c in nested]).schema
    types = {field.name: field.dataType for field in wanted}
    if all(stored.schema[c.name].dataType == types[c.name] for c in nested):
        return stored
    for c in nested:
        kept = _left_over(F.col(quote(c.name)), stored.schema[c.name].dataType, types[c.name])
        stored = stored if kept is None else stored.withColumn(_KEPT + c.name, kept)
    return stored.to(
        StructType([StructField(f.name, types.get(f.name, f.dataType)) for f in stored.schema])
    )


def no_rows(spark: SparkSession, types: Mapping[str, str]) -> DataFrame:
    """Return no rows, with columns by their DDL types."""
    nothing = spark.range(0)
    return nothing.select(*[F.lit(None).cast(kind).alias(name) for name, kind in types.items()])


def conform_to_table(spark: SparkSession, rows: DataFrame, table: str) -> DataFrame:
    """Give rows the columns of a table by their names, those within columns too.

    What the contract dropped and the table keeps is null, unless rows have it; see `dropped_names`.

    Raises:
        SchemaMismatchError: The table lacks a column or a field of the rows.
    """
    schema = spark.table(quote_table(table)).schema
    rows = _with_kept(rows)
    have = set(_paths(schema))
    if lacks := [path for path in _paths(rows.schema) if path not in have]:
        raise SchemaMismatchError(
            f"{table} lacks {', '.join(lacks)} of its contract: run CreateTables first"
        )
    return rows.to(StructType([StructField(f.name, f.dataType) for f in schema]))


def _left_over(held: Expression, have: DataType, wanted: DataType) -> Expression | None:
    """Return the fields of a value that are not wanted, those within its structs too, if any.

    Null where all of them are. Arrays and maps are not looked into.
    """
    if not (isinstance(have, StructType) and isinstance(wanted, StructType)):
        return None
    names = {field.name.lower(): field.dataType for field in wanted}
    parts: dict[str, Expression] = {}
    for field in have:
        part: Expression | None = held[field.name]
        if (kind := names.get(field.name.lower())) is not None:
            part = _left_over(held[field.name], field.dataType, kind)
        parts |= {} if part is None else {field.name: part}
    if not parts:
        return None
    holds = reduce(or_, (part.isNotNull() for part in parts.values()))
    return F.when(holds, F.struct(*[part.alias(name) for name, part in parts.items()]))


def _with_kept(rows: DataFrame) -> DataFrame:
    """Put the fields that were kept in columns of their own back where they belong."""
    for kept in [name for name in rows.columns if name.startswith(_KEPT)]:
        name = kept.removeprefix(_KEPT)
        sides = [(F.col(quote(n)), rows.schema[n].dataType) for n in (name, kept)]
        rows = rows.withColumn(name, _together(*sides[0], *sides[1])).drop(kept)
    return rows


def _together(
    said: Expression, said_type: DataType, kept: Expression, kept_type: DataType
) -> Expression:
    if not (isinstance(said_type, StructType) and isinstance(kept_type, StructType)):
        return said
    more = {field.name.lower(): field for field in kept_type}
    parts = []
    for field in said_type:
        part, rest = said[field.name], more.pop(field.name.lower(), None)
        if rest is not None:
            part = _together(part, field.dataType, kept[rest.name], rest.dataType)
        parts.append(part.alias(field.name))
    parts += [kept[field.name].alias(field.name) for field in more.values()]
    return F.when(said.isNotNull(), F.struct(*parts))


def _paths(kind: DataType, path: str = "") -> Iterator[str]:
    """Yield the names of all columns and of the fields within them, in lower case."""
    parts: list[tuple[str, DataType]] = []
    if isinstance(kind, StructType):
        parts = [(field.name.lower(), field.dataType) for field in kind]
        yield from (f"{path}{name}" for name, _ in parts)
    elif isinstance(kind, ArrayType):
        parts = [("element", kind.elementType)]
    elif isinstance(kind, MapType):
        parts = [("key", kind.keyType), ("value", kind.valueType)]
    for name, part in parts:
        yield from _paths(part, f"{path}{name}.")


def dropped_names(rows: DataFrame, contract: Contract) -> list[str]:
    """Return the columns that the contract has dropped and the table keeps, where rows have them.

    A column that has lost some fields has these in one of its own. Other names that begin with two
    underscores are columns of the merge: no contract may have such a name.
    """
    have = {name.lower() for name in (*(c.name for c in contract.stored), *RESERVED)}
    names = [name for name in rows.columns if name.lower() not in have]
    return [name for name in names if name.startswith(_KEPT) or not name.startswith("__")]
