"""The body of a request as a person has it, such as curl's `--data`, as an endpoint writes it."""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from lakekit.contract.endpoint.paths import path_of
from lakekit.discover.address import looks_secret
from lakekit.errors import InvalidStepInputError

_GRAPHQL = re.compile(r"(query\b|\{).*\{.*\}", re.DOTALL)
_FORM = re.compile(r"[^\s=&{}]+=[^\s&]*(&[^\s=&]+=[^\s&]*)*")


class Fields(NamedTuple):
    """What a body sends that may say where a page is: names and texts, below `steps`.

    declared: the only names that there may be; None if any may.
    """

    steps: tuple[str, ...]
    values: Mapping[str, list[str]]
    declared: Collection[str] | None = None

    def place(self, name: str) -> str:
        """Return the path of a field in the body."""
        return path_of((*self.steps, name))


def read_body(text: str) -> dict[str, Any]:
    """Return the `body` of an endpoint: JSON, a query of GraphQL, or the fields of a form.

    Raises:
        InvalidStepInputError: It is none of these, or a field of it carries a secret.

    Example:
        >>> read_body('{"state": "open"}'), read_body("{ members { id } }"), read_body("a=1&b=x")
        ({'json': {'state': 'open'}}, {'graphql': {'query': '{ members { id } }'}}, \
{'form': {'a': '1', 'b': 'x'}})
    """
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if isinstance(found, dict):
        body = _graphql(found) or {"json": found}
    elif found is None and _GRAPHQL.match(text.strip()):
        body = {"graphql": {"query": text.strip()}}
    elif found is None and _FORM.fullmatch(text.strip()):
        body = {"form": dict(parse_qsl(text.strip(), keep_blank_values=True))}
    else:
        raise InvalidStepInputError(
            "--body: must be an object of JSON, a query of GraphQL, or a form as in 'a=1&b=2'"
        )
    _refuse_secrets(body)
    return body


def _graphql(found: Mapping[str, Any]) -> dict[str, Any] | None:
    query = found.get("query")
    if not isinstance(query, str) or not _GRAPHQL.match(query.strip()):
        return None
    variables = found.get("variables")
    return {"graphql": {"query": query, **({"variables": variables} if variables else {})}}


def first_field(query: str) -> str | None:
    """Return the name of the first field that a query of GraphQL asks for.

    Example:
        >>> first_field("query ($a: Int) { shop: members(first: $a) { id } }")
        'members'
    """
    found = re.search(r"\{\s*(?:\w+\s*:\s*)?(\w+)", query)
    return found and found[1]


def _refuse_secrets(body: Mapping[str, Any]) -> None:
    [fields] = body.values()
    for name in (n for n in fields if looks_secret(n)):
        raise InvalidStepInputError(
            f"--body: {name} looks like a secret, and would be in the contract; Lakekit sends "
            "secrets in headers, in the query and in cookies: see --auth"
        )


def fields_of(body: Mapping[str, Any]) -> Fields:
    """Return what a body sends in which a position may be."""
    [(kind, fields)] = body.items()
    if kind == "graphql":
        declared = re.findall(r"\$(\w+)\s*:", fields["query"])
        given = {**dict.fromkeys(declared, ""), **fields.get("variables", {})}
        return Fields(("variables",), _texts(given), declared)
    return Fields((), _texts(fields))


def _texts(fields: Mapping[str, Any]) -> dict[str, list[str]]:
    return {
        name: [str(value)]
        for name, value in fields.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    }


def without(body: Mapping[str, Any], places: Collection[str]) -> dict[str, Any]:
    """Return a body without the fields that a paginator sends itself."""
    [(kind, fields)] = body.items()
    own = fields_of(body)
    inside = fields.get("variables", {}) if kind == "graphql" else fields
    kept = {name: value for name, value in inside.items() if own.place(name) not in places}
    if kind != "graphql":
        return {kind: kept}
    variables = {"variables": kept} if kept else {}
    return {"graphql": {"query": fields["query"], **variables}}
