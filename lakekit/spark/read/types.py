"""Values as they were landed: none is rounded, wrapped or moved. Frames in and out; no actions.

Spark is lenient with some types, so a value is read as another one and must fit its own:

- It rounds a number to the scale of its decimal, so a decimal is read with 38 digits, the most that
  Spark has. A type of 38 digits leaves none to spare: extra digits are rounded, not rejected.
- It takes 200 for -56 as a tinyint, so that is read as a smallint.
- It takes "1030" for a year and "10:30" for a time of today, so dates and times are read as texts
  of the forms that the contracts' page lists. They have the years 0001 to 9999, which all readers
  can show.
- It takes 1e400 for Infinity, in a string for the text `"Infinity"`, quotes included. JSON has no
  other way to bring either.
- It keeps two values of one key in a map, which other engines do not read.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contract.contract import Column, Contract
from lakekit.contract.sqltypes import SqlType, parse_type
from lakekit.records.forms import (
    FIRST_SECOND,
    FORMS,
    LAST_SECOND,
    MOST_DIGITS_OF_DECIMALS,
    WHOLE_NUMBER,
)
from lakekit.spark.read.fields import layers, record_type, value_along
from lakekit.sql.identifiers import literal, quote

# Spark takes the commas out of a text in its own locale. This one has a point before the decimals,
# too, and between thousands an apostrophe (U+2019), which no country writes before the decimals.
LOCALE = "de-CH"
_FORMS = {name: rf"^{form}\z" for name, form in FORMS.items()}
# To try the cast to a number costs more than all else: of other texts it throws an error.
_IS_NUMBER = "{0} RLIKE " + literal(rf"^{WHOLE_NUMBER}\z")
_SECONDS = f"BETWEEN {FIRST_SECOND} AND {LAST_SECOND}"
_IS_NO_TEXT_OF_A_TIME = "({0} IS NOT NULL AND {1} IS NULL)"
_IS_INFINITE = "coalesce(abs({0}) = double('Infinity'), false)"
# By type, whether a value `{1}`, read as `{0}`, has become another one; never null.
_IS_OTHER = {
    "date": _IS_NO_TEXT_OF_A_TIME,
    "timestamp_ntz": _IS_NO_TEXT_OF_A_TIME,
    # An offset can lead out of the years 0001 to 9999.
    "timestamp": (
        "({0} IS NOT NULL AND NOT coalesce({1} BETWEEN TIMESTAMP '0001-01-01 00:00:00Z' "
        "AND TIMESTAMP '9999-12-31 23:59:59.999999Z', false))"
    ),
    "float": _IS_INFINITE,
    "double": _IS_INFINITE,
    "string": """coalesce({0} IN ('"Infinity"', '"-Infinity"'), false)""",
}
_CHECKED = {*_IS_OTHER, "decimal", "tinyint", "map"}


def checked(contract: Contract) -> list[Column]:
    """Return the columns of the contract's schema whose values may not fit their type."""
    return [c for c in contract.columns if holds(c.sql_type, _CHECKED)]


def parsed_type(column: Column) -> str:
    """Return the type in which a column is read."""
    return str(_read_type(column.sql_type)) if _is_converted(column.sql_type) else column.type


def value_of(column: Column) -> str:
    """Return the quoted name of a column's value among the columns that `with_fitting` adds."""
    return quote(f"__fitting_{column.name}" if _is_converted(column.sql_type) else column.name)


def misfit(column: Column) -> str:
    """Return the name of the flag of a value that does not fit its type."""
    return f"__misfit_{column.name}"


def with_fitting(
    records: DataFrame, contract: Contract, text: Expression, options: dict[str, str]
) -> DataFrame:
    """Add the values of parsed lines in their types, and whether one does not fit; see `misfit`.

    Args:
        records: Parsed lines.
        contract: What they were parsed by.
        text: The line.
        options: Those of the parsing.
    """
    converted = [c for c in contract.columns if _is_converted(c.sql_type)]
    records = records.withColumns(
        {f"__fitting_{c.name}": F.expr(_fitting(c.sql_type, quote(c.name))) for c in converted}
    )
    wrong = {c.name: _is_other(c.sql_type, quote(c.name), value_of(c)) for c in checked(contract)}
    timed = [c for c in contract.columns if holds(c.sql_type, {"timestamp"})]
    if timed:
        for number, columns in enumerate(layers(timed)):
            name = f"__timed{number or ''}"
            records = _with_numbers(records, columns, name, text, options)
            wrong |= {c.name: f"{wrong[c.name]} OR {_is_no_number(c, name)}" for c in columns}
    return records.withColumns({f"__misfit_{name}": F.expr(test) for name, test in wrong.items()})


def _read_type(kind: SqlType) -> SqlType:
    """Return a type in which all values, nested ones too, can be read as they are."""
    if kind.name in _FORMS:
        return parse_type("string")
    if kind.name == "tinyint":
        return parse_type("smallint")
    if kind.name == "decimal":
        whole = kind.precision - kind.scale
        return replace(
            kind, precision=MOST_DIGITS_OF_DECIMALS, scale=MOST_DIGITS_OF_DECIMALS - whole
        )
    # The keys of a map are texts.
    head = kind.fields[:1] if kind.name == "map" else ()
    parts = tuple((name, _read_type(part)) for name, part in kind.fields[len(head) :])
    return replace(kind, fields=head + parts)


def _is_converted(kind: SqlType) -> bool:
    return _read_type(kind) != kind


def _fitting(kind: SqlType, read: str) -> str:
    """Return a value that was read as `read` in its type; null where it does not fit."""
    if not _is_converted(kind):
        return read
    if kind.fields:
        return _fitting_parts(kind, read)
    value = f"try_cast({read} AS {kind})"
    if kind.name not in _FORMS:
        return value
    cases = f"WHEN {read} RLIKE {literal(_FORMS[kind.name])} THEN {value}"
    if kind.name == "timestamp":
        number = f"try_cast({read} AS bigint)"
        in_range = f"{_IS_NUMBER.format(read)} AND {number} {_SECONDS}"
        cases += f" WHEN {in_range} THEN timestamp_seconds({number})"
    return f"CASE {cases} END"


def _fitting_parts(kind: SqlType, read: str) -> str:
    if kind.name == "array":
        return f"transform({read}, each -> {_fitting(kind.fields[0][1], 'each')})"
    if kind.name == "map":
        return f"transform_values({read}, (key, each) -> {_fitting(kind.fields[1][1], 'each')})"
    fields = [f"{literal(n)}, {_fitting(part, f'{read}.{quote(n)}')}" for n, part in kind.fields]
    return f"if({read} IS NULL, NULL, named_struct({', '.join(fields)}))"


def _is_other(kind: SqlType, read: str, value: str) -> str:
    """Return whether a value, read as `read`, has become another one; never null."""
    if kind.name in _IS_OTHER:
        return _IS_OTHER[kind.name].format(read, value)
    if kind.name == "struct":
        parts = [(part, f".{quote(name)}") for name, part in kind.fields if holds(part, _CHECKED)]
        return _any(_is_other(part, read + name, value + name) for part, name in parts)
    if kind.name == "array":
        return _any_is_other(kind.fields[0][1], read)
    if kind.name == "map":
        twice = f"coalesce(size(array_distinct(map_keys({read}))) < size({read}), false)"
        return _any([twice, _any_is_other(kind.fields[1][1], f"map_values({read})")])
    return f"NOT (CAST({value} AS {_read_type(kind)}) <=> {read})"


def _any_is_other(kind: SqlType, elements: str) -> str:
    if not holds(kind, _CHECKED):
        return "false"
    is_other = _is_other(kind, "each", _fitting(kind, "each"))
    return f"coalesce(exists({elements}, each -> {is_other}), false)"


def _any(tests: Iterable[str]) -> str:
    return f"({' OR '.join(tests)})"


def _with_numbers(
    records: DataFrame, timed: list[Column], added: str, text: Expression, options: dict[str, str]
) -> DataFrame:
    """Add a column of the times as Spark reads them, of lines that may have one as a number.

    A number is seconds since 1970, but a text of digits is no time. Both were read as texts, and
    only of a number does Spark make the time that was made of the text.
    """
    number = {"timestamp": _IS_NUMBER}
    numbers = _any(any_part(c.sql_type, quote(c.name), number) for c in timed)
    schema = record_type(timed, lambda column: _times_of(column.sql_type))
    return records.withColumn(added, F.from_json(F.when(F.expr(numbers), text), schema, options))


def _is_no_number(column: Column, timed: str) -> str:
    """Return whether a time was landed as a text of digits; never null."""
    name = quote(column.name)
    # Maps have no equality.
    ours = f"to_json(struct({_fitting(_times_of(column.sql_type), name)} AS x))"
    theirs = f"to_json(struct({value_along(timed, column.steps)} AS x))"
    return f"({timed} IS NOT NULL AND NOT ({ours} <=> {theirs}))"


def _times_of(kind: SqlType) -> SqlType:
    """Return a type without the fields of structs that hold no time."""
    head = kind.fields[:1] if kind.name == "map" else ()
    parts = [each for each in kind.fields[len(head) :] if holds(each[1], {"timestamp"})]
    return replace(kind, fields=head + tuple((name, _times_of(part)) for name, part in parts))


def holds(kind: SqlType, names: Container[str]) -> bool:
    """Whether a type is or holds one of some names; the keys of maps are texts."""
    return kind.name in names or any(holds(part, names) for _, part in kind.fields)


def any_part(kind: SqlType, value: str, tests: Mapping[str, str]) -> str:
    """Return whether one of the parts of a value passes the test of its type; never null.

    Args:
        kind: The value's type; it holds one of those that are tested.
        value: The value.
        tests: By the name of a type, an expression over `{0}`.
    """
    if kind.name in tests:
        return f"coalesce({tests[kind.name].format(value)}, false)"
    if kind.name == "struct":
        parts = [(f"{value}.{quote(name)}", part) for name, part in kind.fields]
        return _any(any_part(part, each, tests) for each, part in parts if holds(part, tests))
    _, element = kind.fields[-1]
    elements = f"map_values({value})" if kind.name == "map" else value
    return f"coalesce(exists({elements}, each -> {any_part(element, 'each', tests)}), false)"
