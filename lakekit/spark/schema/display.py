"""Rows as values of Python for a person or a program to read, none of them Spark's own."""

from collections.abc import Callable
from typing import Any, NamedTuple

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DayTimeIntervalType,
    DoubleType,
    FloatType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    YearMonthIntervalType,
)

from lakekit.errors import InvalidStepInputError
from lakekit.values import shortest_float, to_text, unique_names

Value = Callable[[Any], Any]


class Shown(NamedTuple):
    """Columns, of which two may have one name, and rows of values as `lakekit.values` has them."""

    columns: list[str]
    rows: list[tuple[Any, ...]]

    def records(self) -> list[dict[str, Any]]:
        """Return the rows by the names of their columns, which are different ones."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def collect_shown(rows: DataFrame) -> Shown:
    """Collect rows to show them.

    A struct is a dictionary, and so is a map, with the texts of its keys. A time has no zone and is
    that of the session's: Python reads a `timestamp` in the zone of its process, which may lack the
    first and the last day of all, and has times that look alike when clocks go back. A `float` has
    as few digits as it needs, and an interval is Spark's text.

    Raises:
        InvalidStepInputError: A date or time is outside the years that Python has.
    """
    java: Any = rows._jdf
    kinds = [pair._2() for pair in java.dtypes()]
    places = [f"_{number}" for number in range(len(kinds))]
    # PySpark has no type for what `make_interval` returns.
    known = rows.toDF(*places).selectExpr(
        *[
            f"CAST({place} AS string) AS {place}" if "CalendarInterval" in kind else place
            for place, kind in zip(places, kinds, strict=True)
        ]
    )
    readable = [_readable(F.col(f.name), f.dataType).alias(f.name) for f in known.schema]
    values = [_value(field.dataType) for field in known.schema]
    try:
        found = known.select(*readable).collect()
    except (ValueError, OverflowError) as error:
        raise InvalidStepInputError(
            f"the result has a date or time outside the years 1 to 9999 ({error}); "
            "cast it to string"
        ) from None
    return Shown(
        columns=list(java.columns()),
        rows=[tuple(of(each) for of, each in zip(values, row, strict=True)) for row in found],
    )


def _readable(value: Expression, kind: DataType) -> Expression:
    """Return a value in types that Python takes as they are, with fields by their places."""
    return _listed(value.cast(_replaced(kind, _as_read)), kind)


def _replaced(kind: DataType, leaf: Callable[[DataType], DataType]) -> DataType:
    if isinstance(kind, StructType):
        fields = enumerate(kind.fields)
        return StructType([StructField(f"_{n}", _replaced(f.dataType, leaf)) for n, f in fields])
    if isinstance(kind, ArrayType):
        return ArrayType(_replaced(kind.elementType, leaf))
    if isinstance(kind, MapType):
        return MapType(_replaced(kind.keyType, leaf), _replaced(kind.valueType, leaf))
    return leaf(kind)


def _as_read(kind: DataType) -> DataType:
    if isinstance(kind, FloatType):
        return DoubleType()
    if isinstance(kind, DayTimeIntervalType | YearMonthIntervalType):
        return StringType()
    return TimestampNTZType() if isinstance(kind, TimestampType) else kind


def _listed(value: Expression, kind: DataType) -> Expression:
    """Return a value with lists in place of maps, as some keys are no keys to Python."""
    if isinstance(kind, ArrayType):
        return F.transform(value, lambda each: _listed(each, kind.elementType))
    if isinstance(kind, MapType):
        return F.transform(
            F.map_entries(value),
            lambda entry: F.struct(
                _listed(entry["key"], kind.keyType), _listed(entry["value"], kind.valueType)
            ),
        )
    if isinstance(kind, StructType):
        fields = enumerate(kind.fields)
        parts = [_listed(value[f"_{n}"], f.dataType).alias(f"_{n}") for n, f in fields]
        return F.when(value.isNotNull(), F.struct(*parts))
    return value


def _value(kind: DataType) -> Value:
    """Return what makes a value of what was collected of it."""
    if isinstance(kind, StructType):
        names, parts = unique_names(kind.names), [_value(field.dataType) for field in kind.fields]
        return _unless_null(
            lambda row: {n: of(v) for n, of, v in zip(names, parts, row, strict=True)}
        )
    if isinstance(kind, ArrayType):
        element = _value(kind.elementType)
        return _unless_null(lambda values: [element(each) for each in values])
    if isinstance(kind, MapType):
        key, part = _value(kind.keyType), _value(kind.valueType)
        return _unless_null(lambda entries: {to_text(key(k)): part(v) for k, v in entries})
    return _unless_null(shortest_float) if isinstance(kind, FloatType) else lambda value: value


def _unless_null(of: Value) -> Value:
    return lambda value: None if value is None else of(value)
