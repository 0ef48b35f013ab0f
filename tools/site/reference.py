"""Pages of reference, written from the code: commands, fields of files, errors."""

import inspect
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import typer.main
from typer.cli import get_docs_for_click

from lakekit import errors, table_properties
from lakekit.aws.telemetry.metrics import LINEAGE_METRICS, LOAD_METRICS, WATCH_METRICS
from lakekit.cli.main import app
from lakekit.config.environment import Environment
from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.models import Model

Schema = Mapping[str, Any]
FILES: dict[str, tuple[type[Model], str]] = {
    "contract": (Contract, "A file below `contracts/`: one table. [Contracts](../contracts.md)"),
    "source": (Source, "A file below `sources/`: one API. [Sources](../sources.md)"),
    "environment": (
        Environment,
        "A file below `environments/`, over `base.yaml`. [Deploying](../deploy.md)",
    ),
}


def pages() -> Iterator[tuple[str, str]]:
    """Yield the file name and the Markdown of each page."""
    yield "commands.md", commands()
    for name, (model, about) in FILES.items():
        yield f"{name}.md", fields(name, model, about)
    yield "errors.md", error_tree()
    yield "metrics.md", metrics()
    yield "table-properties.md", properties()


def commands() -> str:
    """Return every command with its arguments and options, as `--help` has them."""
    command: Any = typer.main.get_command(app)
    with typer.Context(command, info_name="lakekit") as context:
        text = get_docs_for_click(obj=command, ctx=context, name="lakekit")
    return text.replace("# `lakekit`", "# Commands", 1)


def fields(name: str, model: type[Model], about: str) -> str:
    """Return every field of a kind of file, a section for each part of it."""
    schema = model.model_json_schema()
    parts = {model.__name__: schema, **schema.get("$defs", {})}
    article = "an" if name[0] in "aeiou" else "a"
    lines = [f"# Fields of {article} {name}", "", f"{about} says what they mean for a load.", ""]
    shown = {part: found for part, found in parts.items() if found.get("properties")}
    for part, found in shown.items():
        lines += [*_section(part, found, shown), ""]
    return "\n".join(lines)


def error_tree() -> str:
    """Return every error with what it means; state machines match the names as text."""
    lines = [
        "# Errors",
        "",
        _first(errors),
        "",
        "| error | means | a retry can help |",
        "|---|---|---|",
    ]
    for name, found in inspect.getmembers(errors, inspect.isclass):
        if issubclass(found, errors.LakekitError) and not name.startswith("_"):
            helps = "yes" if issubclass(found, errors.TransientError) else "no"
            lines.append(f"| `{name}` | {_cell(_first(found))} | {helps} |")
    return "\n".join(lines) + "\n"


def metrics() -> str:
    """Return every metric with its unit; [monitoring](../monitoring.md) says what each means."""
    lines = [
        "# Metrics",
        "",
        "All are in the namespace `Lakekit`. [Monitoring](../monitoring.md#own-metrics) says what "
        "each of them counts.",
        "",
        "| metric | unit | printed by |",
        "|---|---|---|",
    ]
    senders = "StartRun, CompleteRun, RecordFailure"
    printed = {"CompleteRun": LOAD_METRICS, "Sweep": WATCH_METRICS, senders: LINEAGE_METRICS}
    for step, found in printed.items():
        lines += [f"| `{name}` | {unit.value} | {step} |" for name, (_, unit) in found.items()]
    return "\n".join(lines) + "\n"


def properties() -> str:
    """Return the properties of tables and snapshots that Lakekit writes."""
    lines = ["# Properties of tables and snapshots", "", _paragraphs(table_properties), ""]
    for name, found in inspect.getmembers(table_properties, inspect.isclass):
        if found.__module__ == table_properties.__name__ and name.endswith("Property"):
            lines += [f"## {name.removesuffix('Property')}", "", _paragraphs(found), ""]
    return "\n".join(lines)


def _section(name: str, schema: Schema, parts: Collection[str]) -> Iterator[str]:
    yield f"## {name}"
    yield ""
    if text := schema.get("description"):
        yield _escape(text)
        yield ""
    yield "| field | type | default |"
    yield "|---|---|---|"
    needed = schema.get("required", ())
    for field, found in schema["properties"].items():
        default = "must be given" if field in needed else _json(found.get("default"))
        yield f"| `{field}` | {_cell(_type(found, parts))} | {_cell(default)} |"


def _type(schema: Schema, parts: Collection[str]) -> str:
    """Return the type of a field, with links to the parts that it may have."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})" if name in parts else name
    for union in ("anyOf", "oneOf", "allOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(_type(each, parts) for each in schema[union]))
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if values:
        return " or ".join(f"`{_json(value)}`" for value in values)
    kind = schema.get("type", "any value")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}), parts)}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"mapping to {_type(schema['additionalProperties'], parts)}"
    return {"null": "nothing", "object": "mapping"}.get(kind, kind) + _limits(schema)


def _limits(schema: Schema) -> str:
    words = {
        "minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "minLength": "of at least",
        "maxLength": "of at most",
    }  # fmt: skip
    found = [f"{word} {schema[key]}" for key, word in words.items() if key in schema]
    return f" {' '.join(found)}" if found else ""


def _json(value: Any) -> str:
    if value is None or value == "":
        return "none"
    if isinstance(value, dict) and value:
        return "its defaults"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _first(found: Any) -> str:
    return _paragraphs(found).split("\n\n")[0].replace("\n", " ")


def _paragraphs(found: Any) -> str:
    return _escape(inspect.getdoc(found) or "")


def _escape(text: str) -> str:
    return re.sub(r"(?m)^Example:\n", "Example:\n\n", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
