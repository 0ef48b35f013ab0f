"""Spark SQL's DDL types, parsed without Spark."""

import re
from dataclasses import dataclass

ATOMIC = {
    "string", "boolean", "tinyint", "byte", "smallint", "short", "int", "integer", "bigint", "long",
    "float", "real", "double", "date", "timestamp", "timestamp_ntz", "binary",
}  # fmt: skip
_SYNONYMS = {
    "byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint", "real": "float",
    "dec": "decimal", "numeric": "decimal",
}  # fmt: skip
_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|\d+|`[^`]+`|[<>(),:])")
_WIDER = {
    "tinyint": ("smallint", "int", "bigint"), "smallint": ("int", "bigint"), "int": ("bigint",),
    "float": ("double",),
}  # fmt: skip


@dataclass(frozen=True)
class SqlType:
    """A type: its name in lower case, and for the nested ones its parts.

    `fields` holds (name, type) of a struct, ("element", type) of an array and
    ("key", type), ("value", type) of a map.
    """

    name: str
    precision: int = 0
    scale: int = 0
    fields: tuple[tuple[str, "SqlType"], ...] = ()

    def __str__(self) -> str:
        if self.name == "decimal":
            return f"decimal({self.precision},{self.scale})"
        if self.name == "struct":
            return f"struct<{','.join(f'{name}:{part}' for name, part in self.fields)}>"
        if self.fields:
            return f"{self.name}<{','.join(str(part) for _, part in self.fields)}>"
        return self.name


def parse_type(text: str) -> SqlType:
    """Parse a DDL type.

    Raises:
        ValueError: The text is not a type of Spark SQL.

    Example:
        >>> str(parse_type("MAP<string, struct<a: decimal(10, 2)>>"))
        'map<string,struct<a:decimal(10,2)>>'
    """
    tokens = _tokens(text)
    parsed = _parse(tokens, text)
    if tokens:
        raise ValueError(f"'{text}' is not a Spark SQL type: unexpected '{tokens[0]}'")
    return parsed


def can_widen(old: SqlType, new: SqlType) -> bool:
    """Say whether Iceberg can promote a column in place without touching its data."""
    if old.name == new.name == "decimal":
        return old.scale == new.scale and old.precision <= new.precision
    return old == new or new.name in _WIDER.get(old.name, ())


def _tokens(text: str) -> list[str]:
    tokens, position = [], 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if not match:
            raise ValueError(f"'{text}' is not a Spark SQL type")
        tokens.append(match.group(1))
        position = match.end()
    return tokens


def _parse(tokens: list[str], text: str) -> SqlType:
    name = _take(tokens, text).lower()
    name = _SYNONYMS.get(name, name)
    if name in ("array", "map"):
        _take(tokens, text, "<")
        labels = ("element",) if name == "array" else ("key", "value")
        parts: list[tuple[str, SqlType]] = []
        for label in labels:
            if parts:
                _take(tokens, text, ",")
            parts.append((label, _parse(tokens, text)))
        _take(tokens, text, ">")
        return SqlType(name, fields=tuple(parts))
    if name == "struct":
        return SqlType(name, fields=_struct_fields(tokens, text))
    if name == "decimal":
        return _decimal(tokens, text)
    if name not in ATOMIC:
        raise ValueError(f"'{text}' is not a Spark SQL type: '{name}' is unknown")
    return SqlType(name)


def _struct_fields(tokens: list[str], text: str) -> tuple[tuple[str, SqlType], ...]:
    _take(tokens, text, "<")
    fields: list[tuple[str, SqlType]] = []
    while True:
        field = _take(tokens, text).strip("`")
        _take(tokens, text, ":")
        fields.append((field, _parse(tokens, text)))
        if _take(tokens, text) == ">":
            return tuple(fields)


def _decimal(tokens: list[str], text: str) -> SqlType:
    if not tokens or tokens[0] != "(":
        return SqlType("decimal", 10, 0)
    _take(tokens, text, "(")
    precision, scale = int(_take(tokens, text)), 0
    if _take(tokens, text) == ",":
        scale = int(_take(tokens, text))
        _take(tokens, text, ")")
    if not (1 <= precision <= 38 and 0 <= scale <= precision):
        raise ValueError(f"'{text}': a decimal has 1 to 38 digits and at most as many decimals")
    return SqlType("decimal", precision, scale)


def _take(tokens: list[str], text: str, expected: str | None = None) -> str:
    if not tokens or (expected and tokens[0] != expected):
        found = f"'{tokens[0]}'" if tokens else "its end"
        raise ValueError(
            f"'{text}' is not a Spark SQL type: {found} stands where "
            f"'{expected or 'a name'}' should"
        )
    return tokens.pop(0)
