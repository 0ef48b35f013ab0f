"""What does not fit together in a contract file in which single values may be wrong as well."""

from collections.abc import Collection, Iterator, Mapping
from copy import deepcopy
from typing import Any

from lakekit.contract.checks import (
    NamedType,
    column_faults,
    extract_faults,
    fit_faults,
    names_in,
    option_faults,
    table_faults,
)
from lakekit.contract.endpoint import endpoint_faults
from lakekit.contract.files import file_faults
from lakekit.contract.sqltypes import parse_type
from lakekit.models import Fault, Path, child


def document_faults(
    document: Mapping[str, Any], broken: Collection[Path], defaults: Mapping[str, Any]
) -> Iterator[Fault]:
    """Yield what does not fit together in a contract file, other faults of it aside.

    Args:
        document: The file.
        broken: Where a value did not parse.
        defaults: Every option of a history section, as it is when the file does not give it.
    """
    sound, columns = sound_parts(document, broken)
    yield from column_faults(columns)
    history, endpoint = sound.get("history"), sound.get("endpoint")
    options = {**defaults, **history} if isinstance(history, dict) else dict(defaults)
    if isinstance(history, dict):
        yield from option_faults(options)
        yield from fit_faults(options, columns)
    if isinstance(endpoint, dict):
        yield from endpoint_faults(endpoint)
    if isinstance(history, dict) and isinstance(endpoint, dict):
        yield from extract_faults(endpoint.get("extract", "full"), options)
    if isinstance(files := sound.get("files"), dict):
        extract = child(endpoint, "extract") or ("full" if isinstance(endpoint, dict) else None)
        yield from file_faults(files, extract, options if isinstance(history, dict) else {})
    partition_by = child(sound.get("table"), "partition_by") or []
    yield from table_faults(partition_by, columns, names_in(options, "except_columns"))


def sound_parts(
    document: Mapping[str, Any], broken: Collection[Path]
) -> tuple[dict[str, Any], list[NamedType]]:
    """Return a contract file with None for each value that did not parse, and its columns."""
    sound = _without(document, broken)
    return sound, _columns(document, sound)


def _without(document: Mapping[str, Any], broken: Collection[Path]) -> dict[str, Any]:
    """Return a copy of a document with None for each value that did not parse."""
    sound = deepcopy(dict(document))
    for *parents, last in broken:
        node: Any = sound
        for part in parents:
            node = child(node, part)
        if isinstance(node, dict) or child(node, last) is not None:
            node[last] = None
    return sound


def _columns(document: Mapping[str, Any], sound: Mapping[str, Any]) -> list[NamedType]:
    """Return the columns of a schema, with their names even where another part is wrong."""
    field = "schema" if "schema" in document else "columns"
    if not isinstance(sound.get(field), list):
        return [NamedType(None, None)]
    found = []
    for written, parsed in zip(document[field], sound[field], strict=True):
        name, text = child(written, "name"), child(parsed, "type")
        found.append(
            NamedType(
                name if isinstance(name, str) else None,
                parse_type(text) if isinstance(text, str) else None,
            )
        )
    return found
