"""Spark SQL's DDL types, parsed without Spark."""

import re
from dataclasses import dataclass

ATOMIC = {
    "string", "boolean", "tinyint", "byte", "smallint", "short", "int", "integer", "bigint", "long",
    "float", "real", "double", "date", "timestamp", "timestamp_ntz", "binary",
}  # fmt: skip
_SYNONYMS = {
    "byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint", "real": "float",
    "dec": "decimal", "numeric": "decimal", "timestamp_ltz": "timestamp",
}  # fmt: skip
_SIZED_TEXT = ("varchar", "char", "character")
_NOT_HELD = {"interval": "string or bigint", "variant": "string", "void": "the type it will have"}
_TOKEN = re.compile(
    r"""\s*(\w+|`(?:[^`]|``)+`|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[<>(),:])""", re.ASCII
)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WIDER = {
    "tinyint": ("smallint", "int", "bigint"), "smallint": ("int", "bigint"), "int": ("bigint",),
    "float": ("double",),
}  # fmt: skip
# How Athena calls the types of Iceberg, which has no smaller integers.
_ATHENA = {
    "string": "varchar", "tinyint": "integer", "smallint": "integer", "int": "integer",
    "float": "real", "timestamp": "timestamp(6) with time zone", "timestamp_ntz": "timestamp(6)",
    "binary": "varbinary",
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
            return f"struct<{','.join(f'{_quoted(name)}:{part}' for name, part in self.fields)}>"
        if self.fields:
            return f"{self.name}<{','.join(str(part) for _, part in self.fields)}>"
        return self.name


def parse_type(text: str) -> SqlType:
    """Parse a DDL type.

    What says nothing of the values' form is left out: `NOT NULL` and comments of a struct's
    fields, lengths of texts.

    Raises:
        ValueError: The text is not a type of Spark SQL, or one that no table here holds.

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


def athena_type(kind: SqlType) -> str:
    """Return the type by which Athena shows a column.

    Example:
        >>> athena_type(parse_type("map<string,struct<a:int,b:decimal(9,2)>>"))
        'map(varchar, row(a integer, b decimal(9,2)))'
    """
    if kind.name == "struct":
        parts = (f"{_athena_name(name)} {athena_type(part)}" for name, part in kind.fields)
        return f"row({', '.join(parts)})"
    if kind.fields:
        return f"{kind.name}({', '.join(athena_type(part) for _, part in kind.fields)})"
    return _ATHENA.get(kind.name, str(kind))


def _athena_name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else '"{}"'.format(name.replace('"', '""'))


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else f"`{name.replace('`', '``')}`"


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
    if name in _NOT_HELD:
        raise ValueError(f"'{text}': no table of Iceberg holds '{name}'; use {_NOT_HELD[name]}")
    if name in ("array", "map"):
        return SqlType(name, fields=_parts(tokens, text, name))
    if name == "struct":
        return SqlType(name, fields=_struct_fields(tokens, text))
    if name == "decimal":
        return _decimal(tokens, text)
    if name in _SIZED_TEXT:
        return _sized_text(tokens, text, name)
    if name not in ATOMIC:
        raise ValueError(f"'{text}' is not a Spark SQL type: '{name}' is unknown")
    return SqlType(name)


def _parts(tokens: list[str], text: str, name: str) -> tuple[tuple[str, SqlType], ...]:
    _take(tokens, text, "<")
    parts: list[tuple[str, SqlType]] = []
    for label in ("element",) if name == "array" else ("key", "value"):
        if parts:
            _take(tokens, text, ",")
        parts.append((label, _parse(tokens, text)))
    _take(tokens, text, ">")
    return tuple(parts)


def _struct_fields(tokens: list[str], text: str) -> tuple[tuple[str, SqlType], ...]:
    _take(tokens, text, "<")
    fields = [_struct_field(tokens, text)]
    while _take(tokens, text, ",", ">") == ",":
        fields.append(_struct_field(tokens, text))
    return tuple(fields)


def _struct_field(tokens: list[str], text: str) -> tuple[str, SqlType]:
    name = _take(tokens, text)
    if name.startswith("`"):
        name = name[1:-1].replace("``", "`")
    elif not re.fullmatch(r"\w+", name) or name.isdigit():
        raise _misplaced(name, "a name", text)
    if _next_is(tokens, ":"):
        tokens.pop(0)
    kind = _parse(tokens, text)
    if _next_is(tokens, "not"):
        tokens.pop(0)
        _take(tokens, text, "null")
    if _next_is(tokens, "comment"):
        tokens.pop(0)
        comment = _take(tokens, text)
        if comment[0] not in "'\"":
            raise _misplaced(comment, "a text in quotes", text)
    return name, kind


def _decimal(tokens: list[str], text: str) -> SqlType:
    sizes = _sizes(tokens, text) if _next_is(tokens, "(") else [10]
    precision, scale = (*sizes, 0)[:2]
    if len(sizes) > 2 or not (1 <= precision <= 38 and 0 <= scale <= precision):
        raise ValueError(f"'{text}': a decimal has 1 to 38 digits and at most as many decimals")
    return SqlType("decimal", precision, scale)


def _sized_text(tokens: list[str], text: str, name: str) -> SqlType:
    """Return a string: tables keep no length, and the landing has none."""
    sizes = _sizes(tokens, text) if _next_is(tokens, "(") else []
    if len(sizes) != 1 or sizes[0] < 1:
        raise ValueError(f"'{text}': {name} needs one length, as in {name}(10); or use string")
    return SqlType("string")


def _sizes(tokens: list[str], text: str) -> list[int]:
    """Return the numbers in the brackets behind a name."""
    sizes = []
    mark = _take(tokens, text, "(")
    while mark != ")":
        size = _take(tokens, text)
        if not size.isdigit():
            raise _misplaced(size, "a number", text)
        sizes.append(int(size))
        mark = _take(tokens, text, ",", ")")
    return sizes


def _next_is(tokens: list[str], word: str) -> bool:
    return bool(tokens) and tokens[0].lower() == word


def _take(tokens: list[str], text: str, *expected: str) -> str:
    """Return the next token, which must be one of those expected, if any are given."""
    if not tokens or (expected and tokens[0].lower() not in expected):
        raise _misplaced(tokens[0] if tokens else "", expected[-1] if expected else "a name", text)
    return tokens.pop(0)


def _misplaced(found: str, wanted: str, text: str) -> ValueError:
    shown = f"'{found}'" if found else "its end"
    return ValueError(f"'{text}' is not a Spark SQL type: {shown} stands where '{wanted}' should")
