"""CloudFormation's intrinsic functions, as far as CDK writes them."""

import re
from collections.abc import Callable
from typing import Any, Protocol


class Scope(Protocol):
    """What names mean in one stack."""

    def ref(self, name: str) -> Any: ...
    def attribute(self, name: str, attribute: str) -> Any: ...
    def imported(self, export: str) -> Any: ...


class UnknownFunctionError(Exception):
    """A template uses an intrinsic function that the sandbox does not know."""


def resolve(value: Any, scope: Scope) -> Any:
    """Return the value with every intrinsic function in it replaced by its result."""
    if isinstance(value, list):
        return [resolve(each, scope) for each in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        [(name, argument)] = value.items()
        if name == "Ref":
            return scope.ref(argument)
        if name in _FUNCTIONS:
            return _FUNCTIONS[name](argument, scope)
        if name.startswith("Fn::"):
            raise UnknownFunctionError(name)
    return {key: resolve(each, scope) for key, each in value.items()}


def _get_attribute(argument: Any, scope: Scope) -> Any:
    name, attribute = argument.split(".", 1) if isinstance(argument, str) else argument
    return scope.attribute(name, attribute)


def _import(argument: Any, scope: Scope) -> Any:
    return scope.imported(resolve(argument, scope))


def _zones(argument: Any, scope: Scope) -> list[str]:
    region = resolve(argument, scope) or scope.ref("AWS::Region")
    return [f"{region}{letter}" for letter in "abc"]


def _join(argument: Any, scope: Scope) -> str:
    separator, parts = argument
    return str(separator).join(str(part) for part in resolve(parts, scope))


def _select(argument: Any, scope: Scope) -> Any:
    index, parts = argument
    return resolve(parts, scope)[int(index)]


def _split(argument: Any, scope: Scope) -> list[str]:
    separator, text = argument
    return str(resolve(text, scope)).split(separator)


def _substitute(argument: Any, scope: Scope) -> str:
    text, given = (argument, {}) if isinstance(argument, str) else argument

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name.startswith("!"):
            return "${" + name[1:] + "}"
        if name in given:
            return str(resolve(given[name], scope))
        function = "Fn::GetAtt" if "." in name else "Ref"
        return str(resolve({function: name}, scope))

    return re.sub(r"\$\{([^}]+)\}", value, text)


_FUNCTIONS: dict[str, Callable[[Any, Scope], Any]] = {
    "Fn::GetAZs": _zones,
    "Fn::GetAtt": _get_attribute,
    "Fn::ImportValue": _import,
    "Fn::Join": _join,
    "Fn::Select": _select,
    "Fn::Split": _split,
    "Fn::Sub": _substitute,
}
