"""The definitions of the state machines, read."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cdk.constructs.definitions import insert_timeouts
from lakekit.config.timeouts import derive_timeouts

ROOT = Path(__file__).parents[2]
DEFINITIONS = sorted((ROOT / "state_machines").glob("*.asl.json"))
TOKEN = re.compile(r"\$\{(\w+)\}")
Json = dict[str, Any]
each = pytest.mark.parametrize("path", DEFINITIONS, ids=lambda path: path.name.split(".")[0])


def load(path: Path) -> Json:
    """A definition as it is deployed, but for the names of resources."""
    machine = path.name.removesuffix(".asl.json")
    text = insert_timeouts(path.read_text(), machine, derive_timeouts(60))
    definition: Json = json.loads(text)
    return definition


def machines(definition: Json) -> Iterator[Json]:
    """The machine and every machine inside its maps."""
    yield definition
    for state in definition["States"].values():
        if "ItemProcessor" in state:
            yield from machines(state["ItemProcessor"])


def states(definition: Json) -> dict[str, Json]:
    return {name: s for machine in machines(definition) for name, s in machine["States"].items()}


def tasks(definition: Json) -> dict[str, Json]:
    return {name: s for name, s in states(definition).items() if s["Type"] == "Task"}


def successors(state: Json) -> set[str]:
    ways = [state, *state.get("Choices", []), *state.get("Catch", [])]
    return {way[key] for way in ways for key in ("Next", "Default") if key in way}


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def named_errors(value: Any) -> Iterator[str]:
    """Every error that a definition raises or catches by name, not by a path."""
    if isinstance(value, dict):
        yield from (value[key] for key in ("Error",) if isinstance(value.get(key), str))
        yield from value.get("ErrorEquals", [])
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, dict | list):
            yield from named_errors(part)
