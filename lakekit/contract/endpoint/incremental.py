"""What an incremental endpoint asks for: what has changed since a watermark, or windows of time."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_FLOOR, Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from lakekit.contract.endpoint.paths import ValuePath, path_steps
from lakekit.contract.endpoint.placeholders import placeholders_in, request_placeholders
from lakekit.contract.endpoint.request import as_text
from lakekit.models import Fault, Model

WatermarkType = Literal["timestamp", "date", "unix", "unix_ms", "number", "text"]
# The types that are times, and how `{watermark}` is written without a format.
TIME_FORMATS = {"timestamp": "iso", "date": "date", "unix": "unix", "unix_ms": "unix_ms"}
WINDOWS = "window"
MOST_CHARACTERS = 1000
_WINDOW_NAMES = ("window.start", "window.end")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,9})?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# From the year 1 to 9999.
_MOST_SECONDS = Decimal(300_000_000_000)


def value_of(kind: WatermarkType, text: str) -> datetime | Decimal | str | None:
    """Return what a text is as a value of a type, which can be compared; None if it is none.

    Times of all types are written as ISO 8601. They are UTC where they have no zone, and are cut to
    microseconds.

    Example:
        >>> value_of("timestamp", "2026-01-31T08:30:00+02:00").isoformat()
        '2026-01-31T06:30:00+00:00'
    """
    if kind == "text":
        # It is sent in a query, a path or a header.
        return text if 0 < len(text) <= MOST_CHARACTERS and text.isprintable() else None
    return _number(text) if kind == "number" else _time(text)


def text_of(kind: WatermarkType, found: bytes) -> str | None:
    """Return the JSON text of a value of a record as it is kept; None if it is not of the type.

    Numbers may be texts too, as `"42"`; times of type `timestamp` and `date` must be. Numbers and
    texts are kept as they are.
    """
    text = found.decode(errors="replace")
    is_text = found.startswith(b'"')
    if is_text:
        try:
            text = json.loads(text)
            text.encode()
        except ValueError:  # a control character, or half of a surrogate pair
            return None
    if kind in ("unix", "unix_ms"):
        time = _since_1970(_number(text), 1000 if kind == "unix_ms" else 1)
        return None if time is None else time_text(time)
    if kind == "number":
        return None if _number(text) is None else text
    if kind == "date":
        return _date_text(text) if is_text else None
    value = value_of(kind, text) if is_text else None
    if isinstance(value, datetime):
        return time_text(value)
    return text if value else None


def time_text(time: datetime) -> str:
    """Return a time in UTC as it is kept.

    Example:
        >>> time_text(datetime(2026, 1, 31, 6, 30, tzinfo=UTC))
        '2026-01-31T06:30:00Z'
    """
    return f"{time.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"


def earlier(time: datetime, seconds: int) -> datetime:
    """Return a time before another one, not before the year 1."""
    try:
        return time - timedelta(seconds=seconds)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def _time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _date_text(text: str) -> str | None:
    try:
        return f"{date.fromisoformat(text).isoformat()}T00:00:00Z"
    except ValueError:
        return None


def _number(text: str) -> Decimal | None:
    if len(text) > MOST_CHARACTERS or not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except ArithmeticError:
        return None


def _since_1970(number: Decimal | None, per_second: int) -> datetime | None:
    if number is None or abs(number) > _MOST_SECONDS * per_second:
        return None
    micro = Decimal(per_second) / 1_000_000
    try:
        return _EPOCH + timedelta(microseconds=int(number.quantize(micro, ROUND_FLOOR) / micro))
    except OverflowError:
        return None


def _start(value: Any) -> Any:
    """Return what YAML has read as a text: it reads times and dates as such."""
    if isinstance(value, datetime):
        return time_text(value if value.tzinfo else value.replace(tzinfo=UTC))
    return value.isoformat() if isinstance(value, date) else as_text(value)


def _is_of_a_record(path: str) -> str:
    if not all(isinstance(step, str) for step in path_steps(path)):
        raise ValueError("must lead to a field of a record by names alone, as $.updated_at")
    return path


RecordPath = Annotated[ValuePath, AfterValidator(_is_of_a_record)]
Start = Annotated[str, BeforeValidator(_start)]
Days = Annotated[int, Field(ge=1, le=3660)]
Hours = Annotated[int, Field(ge=1, le=24 * 366)]


class Window(Model):
    """The longest time that one step asks for: days or hours."""

    days: Days | None = None
    hours: Hours | None = None

    @property
    def length(self) -> timedelta:
        """Its length."""
        return timedelta(days=self.days or 0, hours=self.hours or 0)


class Incremental(Model):
    """Where a run begins, and how far it asks.

    watermark: path of a value in each record, of a type; the highest one is where the next run
    begins. window: instead, windows of time that follow each other up to the start of the run.
    start: where the first run begins. look_back_seconds: by how much each run begins earlier.
    """

    watermark: RecordPath | None = None
    type: WatermarkType = "timestamp"
    start: Start
    look_back_seconds: Annotated[int, Field(ge=0, le=366 * 86_400)] = 0
    window: Window | None = None

    @property
    def by(self) -> str:
        """What it goes by: the path of the watermark, or `window`."""
        return self.watermark or WINDOWS

    @property
    def begin(self) -> str:
        """Where the first run begins, as it is kept."""
        value = value_of(self.type, self.start)
        return time_text(value) if isinstance(value, datetime) else self.start


def incremental_faults(endpoint: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what of an endpoint does not go together with what is incremental in it."""
    used: dict[str, str | None] = {}
    for name, form in request_placeholders(endpoint):
        if name == "watermark" or name in _WINDOW_NAMES:
            used[name] = used.get(name) or form
    if "incremental" not in endpoint:
        if used:
            must = "give the endpoint incremental: {…}, which says where it begins"
            yield Fault(("incremental",), f"{_braced(used)} is asked for; {must}")
        return
    if endpoint.get("extract", "full") == "full":
        must = "a full extract asks for everything; set extract: incremental or changes"
        yield Fault(("incremental",), must)
    parts = endpoint["incremental"]
    if isinstance(parts, Mapping):
        yield from _part_faults(parts)
        yield from _use_faults(parts, used)
        places = [endpoint.get("path"), endpoint.get("headers")]
        if parts.get("type") == "text" and "watermark" in dict(placeholders_in(places)):
            must = "a text may have signs that no path or header has; send it in params or the body"
            yield _in("type", must)


def _part_faults(parts: Mapping[str, Any]) -> Iterator[Fault]:
    kind = parts.get("type", "timestamp")
    if ("watermark" in parts) == ("window" in parts):
        yield Fault(("incremental",), "give either watermark or window")
    elif "window" in parts and kind != "timestamp":
        yield _in("type", "is that of a watermark; leave it out, as windows are of time")
    window = parts.get("window")
    if isinstance(window, Mapping) and ("days" in window) == ("hours" in window):
        yield _in("window", "give either days or hours")
    if parts.get("look_back_seconds") and kind in ("number", "text"):
        yield _in("look_back_seconds", f"a {kind} is no time; leave it out")
    start = parts.get("start")
    if start is not None and kind is not None and value_of(kind, str(_start(start))) is None:
        what = kind if kind in ("number", "text") else "time like 2026-01-01T00:00:00Z"
        yield _in("start", f"must be a {what}")


def _use_faults(parts: Mapping[str, Any], used: Mapping[str, str | None]) -> Iterator[Fault]:
    if "window" in parts:
        if missing := [name for name in _WINDOW_NAMES if name not in used]:
            must = "each window is asked for by both its ends"
            yield _in("window", f"the request lacks {_braced(missing)}; {must}")
        if "watermark" in used:
            yield _in("window", "{watermark} is of endpoints with a watermark; use {window.start}")
    elif "watermark" in parts:
        if "watermark" not in used:
            yield _in("watermark", "the request lacks {watermark}; without it nothing is left out")
        if wrong := [name for name in _WINDOW_NAMES if name in used]:
            yield _in("watermark", f"{_braced(wrong)} is of endpoints with a window")
        kind = parts.get("type")
        if kind in ("number", "text") and used.get("watermark"):
            yield _in("type", f"a {kind} has no format; write {{watermark}}")


def _braced(names: Any) -> str:
    return " and ".join(f"{{{name}}}" for name in names)


def _in(name: str, message: str) -> Fault:
    return Fault(("incremental", name), message)
