"""A draft as the text of two YAML files, with a comment at each choice that says what was seen."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from lakekit.discover.columns import ColumnGuess
from lakekit.discover.draft import Draft
from lakekit.values import printable

_WIDTH = 79
_PLAIN = re.compile(r"[A-Za-z_$/][A-Za-z0-9_./$-]*")
# Lines that a literal of YAML keeps: printable ones, of which the first is not indented.
_BLOCK = re.compile(r"\S[ -~]*(?<! )(\n([ -~]*[!-~])?)*\n[ -~]*[!-~]")


def source_text(draft: Draft) -> str:
    """Return the text of the source's file."""
    document = draft.source_document()
    lines = [*_comment(draft.saw.get("source", ""))]
    for name, value in document.items():
        if name == "auth":
            lines += _comment(draft.saw.get("sign in", ""))
        lines.append(f"{name}: {flow(value)}")
    return "\n".join(lines) + "\n"


def contract_text(draft: Draft) -> str:
    """Return the text of the contract's file."""
    document = draft.contract_document()
    lines = [f"contract: {flow(draft.table)}", f"source: {flow(draft.source)}", "endpoint:"]
    for name, value in document["endpoint"].items():
        about = {"shape": "", "map_key": "", "response": "format", "paginator": "pages",
                 "incremental": "since", "params": ""}.get(name, name)  # fmt: skip
        lines += _comment(draft.saw.get(about, ""), "  ")
        lines += _body(value) if name == "body" else [f"  {name}: {flow(value)}"]
    lines += _comment(draft.saw.get("columns", ""))
    lines.append("schema:")
    columns = zip(draft.columns.found, document["schema"], strict=True)
    lines += [line for column, written in columns for line in _column(draft, column, written)]
    for path, why in draft.columns.left_out:
        lines += _comment(f"left out: {path}: {why}", "  ")
    lines.append("history:")
    for name, value in document["history"].items():
        about = {"keys": "key", "mode": "key", "sequence_by": "change time",
                 "apply_as_deletes": "deletes"}[name]  # fmt: skip
        lines += _comment(draft.saw.get(about, ""), "  ")
        lines.append(f"  {name}: {flow(value)}")
    return "\n".join(lines) + "\n"


def _body(body: Mapping[str, Any]) -> Iterable[str]:
    """Yield the lines of a body; a query of several lines stays as it was written."""
    graphql = body.get("graphql")
    if not graphql or not _BLOCK.fullmatch(graphql["query"]):
        yield f"  body: {flow(body)}"
        return
    yield "  body:"
    yield "    graphql:"
    yield "      query: |-"
    yield from (f"        {line}".rstrip() for line in graphql["query"].split("\n"))
    if variables := graphql.get("variables"):
        yield f"      variables: {flow(variables)}"


def _column(draft: Draft, column: ColumnGuess, written: Mapping[str, Any]) -> Iterable[str]:
    nulls = f"null in {column.nulls} of {column.total}" if column.nulls else ""
    is_other = draft.type_of(column) != str(column.type)
    saw = f"{column.type} would hold what was seen" if is_other else column.saw
    if column.nulls == column.total:
        nulls = ""
    note = "; ".join(filter(None, (saw, nulls)))
    line = f"  - {flow(written)}"
    one = f"{line}  # {_plain(note)}"
    if not note or len(one) <= _WIDTH:
        return [one if note else line]
    return [*_comment(note, "  "), line]


def _comment(text: str, indent: str = "") -> list[str]:
    """Return a text as lines of comments; whatever it quotes, it stays within them."""
    words, lines = _plain(text).split(), list[str]()
    for word in words:
        if lines and len(lines[-1]) + len(word) < _WIDTH - len(indent):
            lines[-1] += f" {word}"
        else:
            lines.append(f"# {word}")
    return [f"{indent}{line}" for line in lines]


def _plain(text: str) -> str:
    return printable(re.sub(r"\s+", " ", text)).encode("utf-8", "backslashreplace").decode()


def flow(value: Any) -> str:
    """Return a value as YAML on one line.

    Example:
        >>> flow({"type": "cursor", "cursor_path": "$.a b", "first": True})
        '{type: cursor, cursor_path: "$.a b", first: true}'
    """
    if isinstance(value, Mapping):
        return (
            f"{{{', '.join(f'{flow(str(name))}: {flow(each)}' for name, each in value.items())}}}"
        )
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return "null" if value is None else str(value)
    if _PLAIN.fullmatch(value) and yaml.safe_load(f"[{value}]") == [value]:
        return value
    written: str = yaml.safe_dump(
        value, default_style='"', allow_unicode=True, width=float("inf")
    )  # fmt: skip
    return written.strip()
