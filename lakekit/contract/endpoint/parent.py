"""The parents of a child endpoint: it is asked once for each of them."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from lakekit.contract.endpoint.paths import ValuePath, path_steps
from lakekit.contract.endpoint.placeholders import placeholders_in, request_placeholders
from lakekit.contract.endpoint.request import as_text
from lakekit.models import Fault, Model, Name, child

# The two fields of a landed line of a child endpoint.
PARENT, RECORD = "parent", "record"
# Statuses that say that there is no such parent.
ABSENT_STATUSES = (404, 410)
MOST_PARENTS = 100_000
_PREFIX = f"{PARENT}."


def _leads_by_names(path: str) -> str:
    if not all(isinstance(step, str) for step in path_steps(path)):
        raise ValueError("must lead to a field of the parent's record by names alone, as $.id does")
    return path


def _value(value: Any) -> Any:
    as_text(value)
    return value


def _are_distinct(values: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    for number, each in enumerate(values):
        if each.keys() != values[0].keys():
            raise ValueError(f"value {number + 1} has other names than the first one")
        if each in values[:number]:
            raise ValueError(f"value {number + 1} is there twice")
    return values


FieldName = Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_]{0,62}$")]
FieldPath = Annotated[ValuePath, AfterValidator(_leads_by_names)]
Value = Annotated[str | int, BeforeValidator(_value)]
Values = Annotated[
    tuple[Annotated[dict[FieldName, Value], Field(min_length=1)], ...],
    Field(min_length=1, max_length=10_000),
    AfterValidator(_are_distinct),
]


class Parents(Model):
    """Whose children an endpoint gives: records that a table has landed in the run, or a list.

    table: the contract whose landing has the parents. fields: what is kept of each, by a name; a
    path within its record. values: the list instead, with the same names in each. max_parents: more
    fail the endpoint. absent_parents: what it means that the first request for one is answered 404
    or 410.
    """

    table: Name | None = None
    fields: dict[FieldName, FieldPath] = Field(default_factory=dict)
    values: Values | None = None
    max_parents: Annotated[int, Field(ge=1, le=MOST_PARENTS)] = 1000
    absent_parents: Literal["fail", "skip"] = "fail"

    @property
    def names(self) -> frozenset[str]:
        """The names of what is kept of each parent."""
        return frozenset(self.values[0] if self.values else self.fields)

    @property
    def listed(self) -> tuple[dict[str, bytes], ...]:
        """The JSON text of each field of each parent of the list."""
        return tuple(
            {name: msgspec.json.encode(value) for name, value in each.items()}
            for each in self.values or ()
        )


def asked_fields(endpoint: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields of a parent that are in the requests of an endpoint, each once."""
    names = (name for name, _ in request_placeholders(endpoint))
    found = [name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX)]
    return tuple(dict.fromkeys(found))


def parent_faults(endpoint: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what of an endpoint does not go together with its parents."""
    asked, in_headers = asked_fields(endpoint), [*placeholders_in(endpoint.get("headers"))]
    if any(name.startswith(_PREFIX) for name, _ in in_headers):
        yield Fault(("headers",), "a parent's fields may be in path, params and body")
    if PARENT not in endpoint:
        if asked:
            must = "give the endpoint parent: {table: …, fields: …}"
            yield Fault(("path",), f"{{parent.{asked[0]}}} is asked for; {must}")
        return
    parent = endpoint[PARENT]
    if not isinstance(parent, Mapping):
        return
    yield from _part_faults(parent)
    if not asked:
        must = "use {parent.…} in path, params or body, or all requests are the same"
        yield Fault((PARENT,), must)
    known = _names(parent)
    for name in asked if known is not None else ():
        if name not in (known or ()):
            yield Fault((PARENT,), f"{{parent.{name}}} is asked for, but is none of its fields")
    if "incremental" in endpoint:
        must = "a child asks for everything of a parent; make the parent's endpoint incremental"
        yield Fault((PARENT,), must)


def _part_faults(parent: Mapping[str, Any]) -> Iterator[Fault]:
    if ("table" in parent) == ("values" in parent):
        yield Fault((PARENT,), "give either table or values")
    elif "table" in parent and parent.get("fields", {}) == {}:
        yield Fault((PARENT,), "fields: name what is kept of each parent, as in {id: $.id}")
    elif "values" in parent and parent.get("fields"):
        yield Fault((PARENT, "fields"), "is for the parents of a table; each value has its own")


def _names(parent: Mapping[str, Any]) -> set[str] | None:
    """Return the fields of each parent, or None if they cannot be known."""
    fields = parent.get("fields")
    if isinstance(fields, Mapping) and "values" not in parent:
        return {*fields}
    values = parent.get("values")
    first = child(values, 0) if isinstance(values, list) else next(iter(values or ()), None)
    return {*first} if isinstance(first, Mapping) else None
