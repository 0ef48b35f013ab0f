"""One key's history by two engines, each time as a new process: what a person waits for."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.harness import ROOT, empty
from benchmarks.places import OUT

ROUNDS = 5
CONTRACT = """
contract: readings
source: meters
endpoint: {path: /readings}
schema:
  - {name: id, type: bigint}
  - {name: name, type: string}
  - {name: amount, type: "decimal(18,2)"}
  - {name: tags, type: "struct<kind: string, parts: array<int>>"}
history: {keys: [id]}
"""
_LAKEKIT = [sys.executable, "-m", "lakekit.cli.main"]


def cold_reads(keys: int) -> dict[str, Any]:
    """Time `lakekit history` against the same question to Spark, in turns."""
    place = OUT / "work" / "cold-reads"
    empty(place)
    warehouse = str(place / "warehouse")
    _merge(place, warehouse, keys)
    key = keys // 2
    where = f"FROM readings WHERE id = {key} ORDER BY _valid_from"
    shown = "_valid_from, _valid_to, id, name, amount, tags"
    asked = {
        "duckdb": ["history", "readings", "--key", f"id={key}"],
        "spark": ["sql", f"SELECT {shown} {where}", "--engine", "spark"],
    }
    seconds: dict[str, list[float]] = {engine: [] for engine in asked}
    answers = set()
    for number in range(ROUNDS + 1):
        for engine in list(asked)[:: -1 if number % 2 else 1]:
            command = [*asked[engine], "--warehouse", warehouse, "--format", "json"]
            start = time.perf_counter()
            answers.add(_run(command))
            # The first round fills the caches of the operating system.
            if number:
                seconds[engine].append(time.perf_counter() - start)
    return _found(keys, seconds, correct=len(answers) == 1)


def _found(keys: int, seconds: dict[str, list[float]], *, correct: bool) -> dict[str, Any]:
    each = {engine: median(times) for engine, times in seconds.items()}
    ratio = each["spark"] / each["duckdb"]
    said = "the same" if correct else "DIFFERENT"
    text = (
        f"The history of one of {keys} keys, as a new process, median of {ROUNDS}: DuckDB "
        f"{each['duckdb']:.2f} s, Spark {each['spark']:.2f} s, ratio {ratio:.1f}; the answers are "
        f"{said}."
    )
    return {"seconds": seconds, "ratio": ratio, "correct": correct, "text": text}


def _merge(place: Path, warehouse: str, keys: int) -> None:
    (place / "contract.yaml").write_text(CONTRACT)
    runs = []
    for day in (1, 2):
        file = place / f"{day}.ndjson"
        with file.open("w") as stream:
            stream.writelines(f"{json.dumps(_record(key, day))}\n" for key in range(keys))
        time_of = datetime(2026, 1, day, tzinfo=UTC).isoformat()
        runs += ["--input", str(file), "--at", time_of]
    _run(["merge", "--contract", str(place / "contract.yaml"), "--warehouse", warehouse, *runs])


def _record(key: int, day: int) -> dict[str, Any]:
    """Return a record; each second key has another amount on the second day."""
    amount = key + (day if key % 2 == 0 else 0)
    tags = {"kind": f"k{key % 7}", "parts": [key, key + 1]}
    return {"id": key, "name": f"meter {key}", "amount": amount, "tags": tags}


def _run(command: Sequence[str]) -> str:
    # As an installed package does, a checkout keeps what Python has compiled.
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(  # noqa: S603  our own command
        [*_LAKEKIT, *command],
        check=True, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return done.stdout
