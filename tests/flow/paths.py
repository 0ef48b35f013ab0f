"""Paths, templates and functions of the Amazon States Language, as far as ours use them."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

_PART = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+)\]")
_CALL = re.compile(r"^States\.(\w+)\((.*)\)$", re.DOTALL)
_ARGUMENT = re.compile(r"\s*('(?:[^'\\]|\\.)*'|\$[^,]*|-?\d+(?:\.\d+)?|true|false|null)\s*(?:,|$)")


class PathError(Exception):
    """A path leads nowhere: States.Runtime, or States.ParameterPathFailure."""


def find(path: str, value: Any, context: Any = None) -> Any:
    """Return what a path points at: `$` in the state's input, `$$` in the context object."""
    root, rest = (context, path[2:]) if path.startswith("$$") else (value, path[1:])
    for part in _parts(rest):
        try:
            root = root[part]
        except (KeyError, IndexError, TypeError):
            raise PathError(f"{path} leads nowhere") from None
    return root


def put(path: str | None, value: Any, result: Any) -> Any:
    """Return a state's input with a result at its ResultPath; None drops the result."""
    if path is None:
        return value
    parts = _parts(path[1:])
    if not parts:
        return result
    copy = dict(value)
    node = copy
    for part in parts[:-1]:
        node[part] = dict(node.get(part) or {})
        node = node[part]
    node[parts[-1]] = result
    return copy


def fill(template: Any, value: Any, context: Any) -> Any:
    """Return a template with every `name.$` replaced by what it points at."""
    if isinstance(template, list):
        return [fill(each, value, context) for each in template]
    if not isinstance(template, Mapping):
        return template
    return {
        name.removesuffix(".$"): (
            evaluate(each, value, context) if name.endswith(".$") else fill(each, value, context)
        )
        for name, each in template.items()
    }


def evaluate(text: str, value: Any, context: Any) -> Any:
    """Return the value of a path or of an intrinsic function."""
    call = _CALL.match(text)
    if not call:
        return find(text, value, context)
    function = _FUNCTIONS[call[1]]
    return function(*(_argument(each, value, context) for each in _ARGUMENT.findall(call[2])))


def _argument(text: str, value: Any, context: Any) -> Any:
    if text.startswith("'"):
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return find(text.strip(), value, context) if text.startswith("$") else json.loads(text)


def _parts(rest: str) -> list[str | int]:
    if re.sub(_PART, "", rest):
        raise ValueError(f"the simulation does not know the path '{rest}'")
    return [name or int(index) for name, index in _PART.findall(rest)]


def _format(text: str, *values: Any) -> str:
    shown = [each if isinstance(each, str) else json.dumps(each) for each in values]
    assert text.count("{}") == len(shown), f"States.Format: {text}"
    return text.format(*shown)


def _hash(text: str, algorithm: str) -> str:
    return hashlib.new(algorithm.replace("-", "").lower(), text.encode()).hexdigest()


_FUNCTIONS: dict[str, Callable[..., Any]] = {"Format": _format, "Hash": _hash}
