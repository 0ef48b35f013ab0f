"""Placeholders in what is asked of a source: `{run.started_at}`, `{environment}` and the like."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Annotated, Any, Self

from pydantic import AfterValidator

from lakekit.errors import SourceShapeError

# Doubled braces are those of the text itself: {{name}} is {name}. Other braces are text.
_PLACEHOLDER = re.compile(r"\{(\{[^{}]*\})\}|\{([A-Za-z_][\w.]*)(?::([^{}]*))?\}")


def _whole_seconds(time: datetime) -> datetime:
    return time.astimezone(UTC).replace(microsecond=0)


def _seconds(time: datetime) -> int:
    return int(_whole_seconds(time).timestamp())


# Times are rounded down: what is asked for up to a time is asked for again, not left out.
FORMATS: Mapping[str, Callable[[datetime], str]] = {
    "iso": lambda time: f"{_whole_seconds(time).replace(tzinfo=None).isoformat()}Z",
    "date": lambda time: time.astimezone(UTC).date().isoformat(),
    "unix": lambda time: str(_seconds(time)),
    "unix_ms": lambda time: str(_seconds(time) * 1000 + time.astimezone(UTC).microsecond // 1000),
}


@dataclass(frozen=True)
class RunValues:
    """What placeholders stand for in one run.

    incremental: `watermark`, or `window.start` and `window.end`, where the endpoint has them.
    watermark_format: that of a watermark without one of its own; `number` and `text` are no times.
    given: the JSON text of each that a source has given, by its whole name: fields of a parent, the
    id of an export, the cursor of the page before.
    """

    started_at: datetime
    extraction_time: datetime
    environment: str
    incremental: Mapping[str, datetime | str] = field(default_factory=dict)
    watermark_format: str = "iso"
    given: Mapping[str, bytes] = field(default_factory=dict)

    def with_given(self, given: Mapping[str, bytes]) -> Self:
        """Return the values with others that a source has given."""
        return replace(self, given={**self.given, **given})


_VALUES: Mapping[str, Callable[[RunValues], datetime | str]] = {
    "run.started_at": lambda values: values.started_at,
    "run.extraction_time": lambda values: values.extraction_time,
    "environment": lambda values: values.environment,
    "watermark": lambda values: values.incremental["watermark"],
    "window.start": lambda values: values.incremental["window.start"],
    "window.end": lambda values: values.incremental["window.end"],
}
CURSOR = "cursor"
_NO_TIMES = ("environment",)
_NUMBERS = ("unix", "unix_ms", "number")
_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_GIVEN = re.compile(r"parent\.[a-z_][a-z0-9_]*|export\.id|cursor")


def fill(text: str, values: RunValues, quoted: Callable[[str], str] = str) -> str:
    """Return a text with its placeholders replaced.

    Args:
        text: The text.
        values: What they stand for.
        quoted: What is done to what a source has given, which may hold any characters.

    Raises:
        SourceShapeError: What it has given is no text, number or boolean, or is empty.

    Example:
        >>> now = datetime(2026, 1, 31, 6, 30, tzinfo=UTC)
        >>> values = RunValues(now, now, "dev")
        >>> fill("{environment} {run.started_at} {run.started_at:unix} {{x}} {5}", values)
        'dev 2026-01-31T06:30:00Z 1769841000 {x} {5}'
    """

    def value_of(found: re.Match[str]) -> str:
        if found[1]:
            return found[1]
        if _GIVEN.fullmatch(found[2]):
            return quoted(_given_text(found[2], values))
        value = _VALUES[found[2]](values)
        usual = values.watermark_format if found[2] == "watermark" else "iso"
        return value if isinstance(value, str) else FORMATS[found[3] or usual](value)

    return _PLACEHOLDER.sub(value_of, text)


def json_value(text: str, values: RunValues) -> bytes | None:
    """Return the JSON text of a value if a text is its placeholder alone, and it is not a text.

    What a source has given is what it was, so a text too. Seconds, milliseconds and watermarks of
    type `number` are numbers.

    Example:
        >>> now = datetime(2026, 1, 31, tzinfo=UTC)
        >>> values = RunValues(now, now, "dev", given={"parent.id": b"7"})
        >>> json_value("{parent.id}", values), json_value("no. {parent.id}", values)
        (b'7', None)
        >>> json_value("{run.started_at:unix}", values), json_value("{run.started_at}", values)
        (b'1769817600', None)
    """
    found = _PLACEHOLDER.fullmatch(text)
    if not found or found[1]:
        return None
    if _GIVEN.fullmatch(found[2]):
        _given_text(found[2], values)
        return values.given[found[2]]
    usual = values.watermark_format if found[2] == "watermark" else "iso"
    filled = fill(text, values)
    is_number = (found[3] or usual) in _NUMBERS and _JSON_NUMBER.fullmatch(filled)
    return filled.encode() if is_number else None


def _given_text(name: str, values: RunValues) -> str:
    value = values.given[name]
    if value[:1] in (b"{", b"[", b"n"):
        raise SourceShapeError(f"{{{name}}} must be a text, a number or a boolean")
    if not value.startswith(b'"'):
        return value.decode()
    try:
        text = str(json.loads(value, strict=False))
        text.encode()
    except ValueError:
        raise SourceShapeError(f"{{{name}}} is a text that UTF-8 cannot hold") from None
    if not text:
        raise SourceShapeError(f"{{{name}}} is empty")
    return text


def placeholders_in(value: Any) -> Iterator[tuple[str, str | None]]:
    """Yield the name and format of each placeholder in texts, lists and mappings.

    Example:
        >>> [*placeholders_in({"a": ["{watermark:unix}"], "b": "{{watermark}}"})]
        [('watermark', 'unix')]
    """
    if isinstance(value, str):
        yield from ((f[2], f[3]) for f in _PLACEHOLDER.finditer(value) if not f[1])
    elif isinstance(value, Mapping):
        yield from placeholders_in([*value.values()])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from placeholders_in(each)


def request_placeholders(endpoint: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Yield the placeholders, with their formats, of all requests that an endpoint says."""
    body, export = (_mapping(endpoint.get(name)) for name in ("body", "export"))
    following = _mapping(_mapping(endpoint.get("paginator")).get("following"))
    yield from placeholders_in(
        [
            endpoint.get("path"), endpoint.get("params"), endpoint.get("headers"),
            body.get("json"), body.get("form"), _mapping(body.get("graphql")).get("variables"),
            *following.values(), export.get("status_path"), export.get("download_path"),
        ]
    )  # fmt: skip


def uses_cursor(following: Any) -> bool:
    """Say whether requests that follow the first one have the cursor in a place of their own."""
    return any(name == CURSOR for name, _ in placeholders_in(following))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def placeholder_faults(text: str) -> list[str]:
    """Return what is wrong with the placeholders of a text."""
    return [
        fault
        for found in _PLACEHOLDER.finditer(text)
        if not found[1] and (fault := _fault(found[2], found[3]))
    ]


def _fault(name: str, form: str | None) -> str | None:
    if _GIVEN.fullmatch(name):
        return f"{{{name}}} has no format; leave out :{form}" if form is not None else None
    if name not in _VALUES:
        close = get_close_matches(name, _VALUES, n=1)
        hint = f"did you mean {{{close[0]}}}?" if close else f"known are {_list(_VALUES)}"
        return f"{{{name}}} is no placeholder; {hint} Write {{{{{name}}}}} for the text itself"
    if form is not None and name in _NO_TIMES:
        return f"{{{name}}} has no format; leave out :{form}"
    if form is not None and form not in FORMATS:
        return f"{{{name}:{form}}} has no format that is known: {', '.join(FORMATS)}"
    return None


def _list(names: Mapping[str, Any]) -> str:
    return ", ".join(f"{{{name}}}" for name in names) + "."


def _is_template(text: str) -> str:
    if faults := placeholder_faults(text):
        raise ValueError("; ".join(faults))
    return text


Template = Annotated[str, AfterValidator(_is_template)]
