"""Whether a condition of a contract is one: an expression of Spark SQL, true or false of a record.

Only what checks contracts imports this module, and with it a parser of SQL. Functions and jobs take
a contract as checked; what this lets pass, Spark refuses.
"""

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp, parse_one, tokenize
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types

from lakekit.contract.checks import NamedType
from lakekit.contract.sqltypes import SqlType

_SPARK = "spark"
_SUCH_AS = "write a condition such as op = 'D'"
# What the parser takes from other dialects: tokens, and parts of an expression.
_FOREIGN_TOKENS = {"::", ";", "?", "@", "$", "{"}
_FOREIGN = (exp.Command, exp.Glob, exp.Placeholder, exp.SimilarTo)
_OF_OTHER_RECORDS = (exp.AggFunc, exp.Query, exp.UDTF, exp.Window)

_Types = Mapping[str, SqlType | None]


def predicate_faults(text: str, columns: Sequence[NamedType]) -> Iterator[str]:
    """Yield why a text is not a condition on the columns of a record.

    Args:
        text: What should be one.
        columns: Those of the schema. A type that did not parse is not judged.
    """
    condition = _parse(text)
    if condition is None:
        yield f"not an expression of Spark SQL; {_SUCH_AS}, with words of SQL as names in backticks"
    elif any(condition.find_all(*_OF_OTHER_RECORDS)):
        yield f"it asks for other records; {_SUCH_AS}, on the columns of one"
    else:
        types = {column.name.lower(): column.type for column in columns if column.name}
        named = list(condition.find_all(exp.Column))
        unknown = [column.sql(_SPARK) for column in named if not _is_known(column, types)]
        yield from (f"'{name}' is not a column of the schema" for name in dict.fromkeys(unknown))
        if not named:
            yield f"it names no column, so that it is the same for all records; {_SUCH_AS}"
        elif not unknown:
            yield from _not_boolean(condition, _annotated(condition, types))


def _parse(text: str) -> exp.Expr | None:
    """Return an expression, None for a text that is none of Spark."""
    try:
        tokens = {text[token.start : token.end + 1] for token in tokenize(text, read=_SPARK)}
        found = parse_one(text, read=_SPARK, into=exp.Condition)
    except SqlglotError:
        return None
    empty = any(not (each.expressions or each.args.get("query")) for each in found.find_all(exp.In))
    foreign = tokens & _FOREIGN_TOKENS or any(found.find_all(*_FOREIGN))
    return None if empty or foreign else found


def _is_known(column: exp.Column, types: _Types) -> bool:
    try:
        _type_of(column, types)
    except KeyError:
        return False
    return True


def _type_of(column: exp.Column, types: _Types) -> SqlType | None:
    """Return the type of a column, or of a field within one; None if that did not parse.

    Raises:
        KeyError: There is no such column.
    """
    first, *fields = (part.name.lower() for part in column.parts)
    kind = types[first]
    for name in fields:
        kind = _field(kind, name) if kind else None
    return kind


def _field(kind: SqlType, name: str) -> SqlType:
    if kind.name == "map":
        return kind.fields[-1][1]
    if kind.name == "array":
        return SqlType("array", fields=(("element", _field(kind.fields[0][1], name)),))
    return {field.lower(): part for field, part in kind.fields}[name]


def _annotated(condition: exp.Expr, types: _Types) -> exp.Expr:
    """Return a condition of the same form, with the types of its parts as far as they are known."""

    def typed(node: exp.Expr) -> exp.Expr:
        kind = _type_of(node, types) if isinstance(node, exp.Column) else None
        return exp.cast(exp.null(), str(kind), dialect=_SPARK) if kind else node

    return annotate_types(condition.transform(typed), dialect=_SPARK)


def _not_boolean(shown: exp.Expr, typed: exp.Expr) -> Iterator[str]:
    """Yield the parts of a condition that must be true or false, and are known to be neither."""
    if isinstance(shown, exp.Not | exp.Paren):
        yield from _not_boolean(shown.this, typed.this)
    elif isinstance(shown, exp.Connector):
        for side in ("this", "expression"):
            yield from _not_boolean(shown.args[side], typed.args[side])
    elif typed.type and not typed.is_type("boolean", "unknown", "null"):
        yield f"{shown.sql(_SPARK)} is {typed.type.sql(_SPARK).lower()}, not boolean; {_SUCH_AS}"
