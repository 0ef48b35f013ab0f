"""Where a record has the values of columns: the types to parse a line by, and each value in them.

One parse gives a field one type, and Spark finds names without regard to case. So columns that are
read from one field, or one from within another's field, or from fields whose names differ in case
alone, are parsed in several layers.
"""

from collections.abc import Callable, Iterable, Sequence

from lakekit.contract.contract import Column
from lakekit.contract.fields import Steps
from lakekit.sql.identifiers import quote


def layers(columns: Iterable[Column]) -> list[list[Column]]:
    """Return which columns can be read by one parse; nearly always all of them."""
    found: list[list[Column]] = []
    for column in columns:
        free = (layer for layer in found if not any(_meet(column, other) for other in layer))
        layer = next(free, None)
        if layer is None:
            found.append([column])
        else:
            layer.append(column)
    return found or [[]]


def _meet(one: Column, other: Column) -> bool:
    """Say whether the fields of two columns cannot be in one type."""
    for left, right in zip(one.steps, other.steps, strict=False):
        if left != right:
            return left.lower() == right.lower()
    return True


def record_type(columns: Sequence[Column], kind: Callable[[Column], object], *more: str) -> str:
    """Return the type of a record that has some columns of one layer.

    Args:
        columns: Those of a layer.
        kind: The type in which each is read.
        more: Further fields.

    Example:
        >>> column = Column.model_validate({"name": "n", "type": "int", "from": "$.a['b c']"})
        >>> record_type([column], lambda column: column.type, "x: string")
        'struct<`a`: struct<`b c`: int>, x: string>'
    """
    return _struct([(column.steps, str(kind(column))) for column in columns], *more)


def type_along(steps: Steps, kind: str) -> str:
    """Return the type of a record that has one value."""
    return _struct([(steps, kind)])


def value_along(record: str, steps: Steps) -> str:
    """Return the expression of a value within a parsed record.

    Example:
        >>> value_along("__parsed", ("a", "b c"))
        '__parsed.`a`.`b c`'
    """
    return ".".join([record, *map(quote, steps)])


def walked_objects(columns: Iterable[Column]) -> list[Steps]:
    """Return the objects that the paths of columns lead through, each once, outer ones first."""
    found = {c.steps[:end] for c in columns for end in range(1, len(c.steps))}
    return sorted(found, key=lambda steps: (len(steps), steps))


def _struct(parts: Sequence[tuple[Steps, str]], *more: str) -> str:
    fields: dict[str, list[tuple[Steps, str]]] = {}
    for (name, *below), kind in parts:
        fields.setdefault(name, []).append((tuple(below), kind))
    inner = [f"{quote(name)}: {_type(below)}" for name, below in fields.items()]
    return f"struct<{', '.join([*inner, *more])}>"


def _type(parts: Sequence[tuple[Steps, str]]) -> str:
    (steps, kind), *_ = parts
    return _struct(parts) if steps else kind
