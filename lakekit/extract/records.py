"""Cuts records and values out of a response without parsing and printing them again."""

from typing import Any

import msgspec

from lakekit.contract.endpoint import path_parts
from lakekit.errors import SourceShapeError
from lakekit.json_lines import BYTE_ORDER_MARK, HiddenHalves

_ABSENT = msgspec.Raw(b"null")


def cut_records(body: bytes, path: str) -> list[bytes]:
    """Return the exact JSON text of every record in the list under `path`.

    Half a surrogate pair within a record is left to the merge, which rejects that record alone.

    Raises:
        SourceShapeError: The body is not JSON, the path is absent, or holds no list.
    """
    hidden = _hidden(body)
    raw: msgspec.Raw | bytes = hidden.text
    for part in path_parts(path):
        fields = _decode(raw, dict[str, msgspec.Raw], path)
        if part not in fields:
            raise SourceShapeError(f"the response has no '{part}' on the way to {path}")
        raw = fields[part]
    return [hidden.restore(bytes(each)) for each in _decode(raw, list[msgspec.Raw], path)]


def scalar_at(body: bytes, path: str) -> str | int | None:
    """Return the text or whole number under `path`, or None if it is null or absent."""
    hidden = _hidden(body)
    raw: msgspec.Raw | bytes = hidden.text
    for part in path_parts(path):
        fields = _decode(raw, dict[str, msgspec.Raw] | None, path)
        raw = (fields or {}).get(part, _ABSENT)
    value: str | int | None = _decode(hidden.restore(bytes(raw)), str | int | None, path)
    return value


def count_at(body: bytes, path: str | None) -> int | None:
    """Return the count under `path`, or None if no path is given."""
    if path is None:
        return None
    value = scalar_at(body, path)
    if not isinstance(value, int) or value < 0:
        raise SourceShapeError(f"{path} is not a count")
    return value


def _hidden(body: bytes) -> HiddenHalves:
    return HiddenHalves(body.removeprefix(BYTE_ORDER_MARK.encode()))


def _decode(raw: msgspec.Raw | bytes, shape: Any, path: str) -> Any:
    try:
        return msgspec.json.decode(raw, type=shape)
    except msgspec.ValidationError as error:
        raise SourceShapeError(f"{path}: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SourceShapeError(f"the response is not JSON: {error}") from error
