"""JSON Schemas of the files of a project, for editors.

They accept what Lakekit accepts and refuse what is wrong in a single field. What does not fit
together between fields is for `lakekit check`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lakekit.config.environment import Environment
from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.models import Model

MODELS: dict[str, type[Model]] = {
    "contract": Contract,
    "environment": Environment,
    "source": Source,
}
FOLDER = "schemas"
_TEXT = {"type": "string"}
# A parameter of a request may be written as the number or truth value that YAML reads.
_SCALAR = {"type": ["string", "number", "boolean"]}

Json = dict[str, Any]


def schema_of(kind: str) -> Json:
    """Return the schema of a file: `contract`, `environment` or `source`."""
    model = MODELS[kind]
    schema = model.model_json_schema(by_alias=True)
    for node in _nodes(schema):
        # Pydantic looks at a tag to find the member of a union; an editor does not need it.
        if "oneOf" in node:
            node["anyOf"] = node.pop("oneOf")
        node.pop("discriminator", None)
        node.pop("title", None)
        if kind == "environment":
            # Two files make an environment: neither has to have all.
            node.pop("required", None)
    _PATCHES[kind](schema)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Lakekit: {kind}",
        **schema,
    }


def schema_text(kind: str) -> str:
    """Return the schema of a file as JSON."""
    return json.dumps(schema_of(kind), indent=1, ensure_ascii=False) + "\n"


def write_schemas(config: Path) -> list[Path]:
    """Write the schemas of this release into the configuration of a project."""
    folder = config / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for kind in MODELS:
        file = folder / f"{kind}.json"
        file.write_text(schema_text(kind), encoding="utf-8")
        files.append(file)
    return files


def editor_comment(kind: str) -> str:
    """Return the first line of a file, by which an editor finds its schema.

    Example:
        >>> editor_comment("source")
        '# yaml-language-server: $schema=../schemas/source.json'
    """
    return f"# yaml-language-server: $schema=../{FOLDER}/{kind}.json"


def _source(schema: Json) -> None:
    fields = schema["properties"]
    fields["auth"] = {"anyOf": [fields["auth"]["items"], fields["auth"]]}
    fields["schedule"] = {"anyOf": [_TEXT, fields["schedule"]]}
    secret = schema["$defs"]["Secret"]
    schema["$defs"]["Secret"] = {"anyOf": [_TEXT, secret]}


def _contract(schema: Json) -> None:
    for node in _nodes(schema):
        for name in ("params", "form"):
            if isinstance(found := node.get("properties"), dict) and name in found:
                _as_scalars(found[name])


def _as_scalars(params: Json) -> None:
    for node in _nodes(params):
        values = node.get("additionalProperties")
        if isinstance(values, dict) and "anyOf" in values:
            node["additionalProperties"] = {"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR}]}


def _environment(schema: Json) -> None:
    # The name of the file, if it is not said.
    schema["properties"]["environment"].setdefault("type", "string")
    schema["properties"]["network"]["anyOf"].append({"enum": ["none", "vpc"]})


_PATCHES = {"source": _source, "contract": _contract, "environment": _environment}


def _nodes(value: Any) -> Iterator[Json]:
    """Yield all mappings below a value that may be a schema, the innermost last."""
    if isinstance(value, dict):
        yield value
    for each in list(value.values()) if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            yield from _nodes(each)
