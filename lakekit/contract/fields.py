"""Which field of a record a column is read from: a name, or a path such as `$.attributes.name`."""

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from lakekit.contract.endpoint.parent import PARENT, RECORD
from lakekit.contract.endpoint.paths import path_steps
from lakekit.contract.sqltypes import SqlType
from lakekit.models import Fault

Steps = tuple[str, ...]
_NESTED = {"array", "map", "struct"}
# A record that is parsed has these fields in addition.
_TAKEN = {"__seal", "_corrupt_record"}


def field_steps(text: str) -> Steps:
    """Return the names that lead to a field.

    Raises:
        ValueError: The text is neither a name nor a path of names.

    Example:
        >>> field_steps("first name"), field_steps("$.attributes['first name']")
        (('first name',), ('attributes', 'first name'))
    """
    if not text.startswith("$"):
        return (text,)
    steps = path_steps(text)
    names = tuple(step for step in steps if isinstance(step, str))
    if not names:
        raise ValueError("must name a field of the record, as $.attributes.name does")
    if len(names) < len(steps):
        raise ValueError(
            "must lead through names alone, without [0] or [*]; give the whole list to a column "
            "of type array"
        )
    return names


def _is_field(text: str) -> str:
    names = field_steps(text)
    if not all(names):
        raise ValueError("the name of a field is not empty")
    if names[0].lower() in _TAKEN:
        raise ValueError(f"'{names[0]}' is a name that Lakekit uses where it parses records")
    return text


FieldPath = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_is_field)]


def types_by_field(columns: Sequence[tuple[Steps, SqlType]]) -> dict[str, SqlType]:
    """Return by the name of each field of a record in which form its value is JSON.

    A field that several columns read is a text, unless they agree. One that a path leads through
    is an object.
    """
    found: dict[str, SqlType] = {}
    for (name, *below), kind in columns:
        own = SqlType("struct") if below else kind
        first = found.setdefault(name, own)
        if first != own and not {first.name, own.name} <= _NESTED:
            found[name] = SqlType("string")
    return found


def child_field_faults(columns: Sequence[Steps], fields: Collection[str]) -> Iterator[Fault]:
    """Yield the columns that no landed line of a child endpoint could fill.

    Args:
        columns: Where each column is read from.
        fields: Those that are kept of a parent.
    """
    for position, (first, *below) in enumerate(columns):
        if first == RECORD or (first == PARENT and (not below or below[0] in fields)):
            continue
        must = f"from: $.record.{first}, or $.parent.… for one of {', '.join(sorted(fields))}"
        yield Fault(("schema", position), f"a child has its fields under record; write {must}")
