"""The folders of the releases, and what today's code would put into one."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from lakekit.documents import Document
from tests.golden.examples import DOCUMENTS, HANDED, PROPERTIES, SNAPSHOT

Json = dict[str, Any]
FOLDER = Path(__file__).parent
MODELS: dict[str, type[BaseModel]] = {}
# Their names are a person's or a source's, and no fields of ours.
FREE = (
    "params", "headers", "json", "variables", "properties", "resume", "failed", "fields", "values",
)  # fmt: skip
PROPERTIES_FILE, SNAPSHOT_FILE = "table_properties", "snapshot_summary"


def name_of(model: type[BaseModel]) -> str:
    """Return the name of a model's file.

    >>> name_of(Document)
    'document'
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", model.__name__).lower()


MODELS |= {name_of(type(each)): type(each) for each in (*DOCUMENTS, *HANDED)}


def releases() -> list[str]:
    """Return the releases that have a folder, oldest first."""
    found = [path.name for path in FOLDER.iterdir() if re.fullmatch(r"\d+\.\d+\.\d+", path.name)]
    return sorted(found, key=lambda name: [int(part) for part in name.split(".")])


def read(release: str, name: str) -> Json:
    """Return a file of a release."""
    found: Json = json.loads((FOLDER / release / f"{name}.json").read_text(encoding="utf-8"))
    return found


def names(release: str) -> list[str]:
    """Return the names of the documents of a release."""
    files = sorted(path.name for path in (FOLDER / release).glob("*.json"))
    return [file.removesuffix(".json") for file in files if not file.endswith(".schema.json")]


def written_today() -> dict[str, str]:
    """Return each file of a folder by its name."""
    values: dict[str, Any] = {
        **{name_of(type(each)): json.loads(each.to_json()) for each in DOCUMENTS},
        **{name_of(type(each)): each.to_event() for each in HANDED},
        PROPERTIES_FILE: {
            kept.name: kept.write(value)[kept.name] for kept, value in PROPERTIES.items()
        },
        SNAPSHOT_FILE: SNAPSHOT,
    }  # fmt: skip
    schemas: dict[str, Any] = {name: reader_of(model) for name, model in MODELS.items()}
    schemas[PROPERTIES_FILE] = {kept.name: kept._adapter.json_schema() for kept in PROPERTIES}
    files = values | {f"{name}.schema": schema for name, schema in schemas.items()}
    return {
        f"{name}.json": json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        for name, value in files.items()
    }


def reader_of(model: type[BaseModel]) -> Json:
    """Return what a reader of today accepts: fields that it does not know, no higher version."""
    schema = tolerant(model.model_json_schema())
    if issubclass(model, Document):
        schema["properties"]["schema_version"]["maximum"] = model.VERSION
    return schema


def tolerant(schema: Any) -> Any:
    """Return a schema that allows any further field, without texts for people."""
    if isinstance(schema, list):
        return [tolerant(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: tolerant(each)
        for key, each in schema.items()
        if not (key == "additionalProperties" and each is False)
        and not (key in ("description", "title") and isinstance(each, str))
    }


def objects(value: Any) -> Iterator[Json]:
    """Yield each object of a document that has fields of ours."""
    if isinstance(value, list):
        for each in value:
            yield from objects(each)
    if isinstance(value, dict):
        yield value
        for key, each in value.items():
            if key not in FREE:
                yield from objects(each)
