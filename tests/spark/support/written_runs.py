"""Runs of the model as landed files: NDJSON that a source could have written."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from tests.model.terms import BAD, UNKNOWN, Record, Run

ENCODER = msgspec.json.Encoder(decimal_format="number")


def write_run(run: Run, types: Mapping[str, str], folder: Path, name: str) -> list[str]:
    """Write the known values of a run's records to two files; return these."""
    half, files = len(run.records) // 2, []
    for part, records in enumerate((run.records[:half], run.records[half:])):
        file = folder / f"{name}-{part}.ndjson"
        file.write_bytes(b"".join(_line(record, types) + b"\n" for record in records))
        files.append(str(file))
    return files


def _line(record: Record, kinds: Mapping[str, str]) -> bytes:
    said = {n: v for n, v in record.items() if n in kinds and v is not UNKNOWN}
    return ENCODER.encode({n: _json(v, kinds[n]) for n, v in said.items()})


def _json(value: Any, kind: str = "") -> Any:
    if value is BAD:
        return "this is no number"
    if isinstance(value, datetime) and kind == "timestamp":
        return value.replace(tzinfo=UTC)
    if isinstance(value, dict):
        return {name: _json(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_json(part) for part in value]
    return value
