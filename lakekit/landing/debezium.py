"""Envelopes of Debezium → records: the row that a change left, or that it deleted.

The fields of the envelope follow those of the row, with two underscores in front, as Debezium's own
`ExtractNewRecordState` has them: `__op`, `__ts_ms`, `__source`. `__time` is the time at which
the source made the change, as a text.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

import msgspec

from lakekit.errors import SourceShapeError
from lakekit.json_text.lines import BLANK, object_fields, read_fields

_ROWS = {b'"c"': "after", b'"r"': "after", b'"u"': "after", b'"d"': "before"}
_TRUNCATE = b'"t"'
_ROW = ("before", "after", "schema")
# What stands where the source did not log a large value that did not change.
_UNKNOWN = b'"__debezium_unavailable_value"'
_NULL = b"null"
_NAME = msgspec.json.Encoder()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECONDS = {"ts_us": 1, "ts_ms": 1000}


def row_changes(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the record of each envelope, every value with the text it came with.

    A line that is no envelope, or whose row is unknown, is yielded as what no record is, so that
    its text goes to the quarantine. The null that follows a deletion (a tombstone) is left out.

    Raises:
        SourceShapeError: A change empties the whole table.
    """
    for line in lines:
        text = line.strip(BLANK.encode())
        if not text or text == _NULL:
            continue
        received = read_fields(text)
        if received is None:
            yield text
            continue
        fields = _envelope(received)
        if fields is None:
            continue
        if fields.get("op") == _TRUNCATE:
            raise SourceShapeError(
                "a change with op t empties the whole table, which no record can say; take it out, "
                "and load a full extract"
            )
        yield _record(fields) or b"[" + text + b"]"


def _envelope(fields: dict[str, bytes]) -> dict[str, bytes] | None:
    """Return the fields of an envelope, which may be a payload with its schema; None for a null."""
    if "op" in fields or "payload" not in fields:
        return fields
    return None if fields["payload"] == _NULL else object_fields(fields["payload"]) or {}


def _record(fields: Mapping[str, bytes]) -> bytes | None:
    """Return the record of a change, or None if the envelope does not say one."""
    which = _ROWS.get(fields.get("op", b""), "")
    row = fields.get(which, _NULL)
    values = object_fields(row)
    if not values or (which == "after" and _UNKNOWN in values.values()):
        return None
    more = {name: text for name, text in fields.items() if name not in _ROW}
    if time := _time(fields):
        more["time"] = b'"' + time.encode() + b'"'
    added = b",".join(_NAME.encode(f"__{name}") + b":" + text for name, text in more.items())
    return row.rstrip(BLANK.encode())[:-1] + b"," + added + b"}"


def _time(fields: Mapping[str, bytes]) -> str | None:
    """Return when the source made a change; without that, when Debezium read it."""
    for part in (object_fields(fields.get("source", _NULL)) or {}, fields):
        for name, unit in _MICROSECONDS.items():
            if (number := part.get(name, b"")).isdigit() and len(number) < 20:
                try:
                    time = _EPOCH + timedelta(microseconds=int(number) * unit)
                except OverflowError:
                    return None
                return time.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    return None
