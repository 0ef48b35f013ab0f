"""Values of DuckDB as values of Python, the same as those that Spark gives for the same table.

Each type has an expression in SQL, for what DuckDB would hand over inexactly, and a function for
what comes of it. A type that no table has becomes DuckDB's own text.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lakekit.sql.queries import text_literal
from lakekit.values import shortest_float, to_text

if TYPE_CHECKING:
    from duckdb.sqltypes import DuckDBPyType

Children = Sequence[tuple[str, "DuckDBPyType"]]
# In the message of the error that a query raises.
OUT_OF_RANGE = "a date or time outside the years 1 to 9999"
_PLAIN = {
    "boolean", "tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint",
    "uinteger", "ubigint", "uhugeint", "double", "decimal", "varchar", "blob",
}  # fmt: skip


class Form(NamedTuple):
    """How values of a type are asked for, and what is made of them; they are never null."""

    expression: str
    value: Callable[[Any], Any]


def select_list(types: Sequence["DuckDBPyType"]) -> tuple[str, list[Callable[[Any], Any]]]:
    """Return what selects all columns of a query by their places, and what makes their values."""
    forms = [_form(kind, f"#{place}", 0) for place, kind in enumerate(types, 1)]
    return ", ".join(form.expression for form in forms), [_unless_null(f.value) for f in forms]


def _form(kind: "DuckDBPyType", value: str, depth: int) -> Form:
    if kind.id in _NESTED:
        return _NESTED[kind.id](_children(kind), value, depth)
    return _flat_form(kind.id, value)


def _flat_form(name: str, value: str) -> Form:
    if name in _PLAIN:
        return Form(value, _same)
    if name == "float":
        return Form(f"CAST({value} AS DOUBLE)", shortest_float)
    if name in ("date", "timestamp"):
        return Form(_in_range(value), _same)
    if name == "timestamp with time zone":
        return Form(f"make_timestamp(epoch_us({_in_range(value)}))", _same)
    return Form(f"CAST({value} AS VARCHAR)", _same)


def _children(kind: "DuckDBPyType") -> Children:
    parts: Any = kind.children
    return list(parts)


def _in_range(value: str) -> str:
    """Return a date or time that Python has; of others it would give a text, or another one."""
    held = f"{value} IS NULL OR isfinite({value}) AND year({value}) BETWEEN 1 AND 9999"
    return f"CASE WHEN {held} THEN {value} ELSE error('{OUT_OF_RANGE}') END"


def _list_form(children: Children, value: str, depth: int) -> Form:
    each = f"x{depth}"
    element = _form(children[0][1], each, depth + 1)
    made = _unless_null(element.value)
    expression = (
        value if element.expression == each
        else f"list_transform({value}, lambda {each}: {element.expression})"
    )  # fmt: skip
    return Form(expression, lambda found: [made(part) for part in found])


def _map_form(children: Children, value: str, depth: int) -> Form:
    """Return entries in place of a map, as some keys are no keys to Python."""
    each = f"x{depth}"
    key, part = (
        _form(kind, f"struct_extract({each}, '{name}')", depth + 1)
        for name, (_, kind) in zip(("key", "value"), children, strict=True)
    )
    pair = f"{{'k': {key.expression}, 'v': {part.expression}}}"
    expression = f"list_transform(map_entries({value}), lambda {each}: {pair})"
    made = _unless_null(part.value)
    return Form(
        expression,
        lambda found: {to_text(key.value(entry["k"])): made(entry["v"]) for entry in found},
    )


def _struct_form(children: Children, value: str, depth: int) -> Form:
    names = [name for name, _ in children]
    if not all(names):
        # What `row(1, 2)` makes.
        return _flat_form("struct", value)
    parts = [
        _form(kind, f"struct_extract({value}, {text_literal(name)})", depth)
        for name, kind in children
    ]
    packed = ", ".join(f"'f{place}': {part.expression}" for place, part in enumerate(parts))
    expression = f"CASE WHEN {value} IS NOT NULL THEN {{{packed}}} END"
    made = [_unless_null(part.value) for part in parts]
    return Form(
        expression,
        lambda found: {
            name: of(part) for name, of, part in zip(names, made, found.values(), strict=True)
        },
    )


_NESTED: Mapping[str, Callable[[Children, str, int], Form]] = {
    "list": _list_form, "map": _map_form, "struct": _struct_form,
}  # fmt: skip


def _same(value: Any) -> Any:
    return value


def _unless_null(of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return of if of is _same else lambda value: None if value is None else of(value)
