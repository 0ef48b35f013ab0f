"""How far one landing reaches: measured from its records, or by its windows."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from lakekit.contract.endpoint.incremental import (
    WINDOWS,
    WatermarkType,
    text_of,
    time_text,
    value_of,
)
from lakekit.contract.endpoint.paths import path_steps
from lakekit.errors import SourceShapeError
from lakekit.json_text.lines import read_fields, value_along
from lakekit.models import Model


class Mark(Model):
    """How far one landing reaches.

    since: where it began, before looking back. until: the highest value of its records, or the end
    of its last window; none if no record counts. counted, unset, unreadable, ahead: records whose
    value counts, is null, is absent or not of the type, or is later than the start of the run.
    """

    by: str
    type: WatermarkType
    since: str
    until: str | None = None
    counted: int = 0
    unset: int = 0
    unreadable: int = 0
    ahead: int = 0


def window_mark(start: datetime) -> Mark:
    """Return the mark with which a landing of windows begins at a time."""
    return Mark(by=WINDOWS, type="timestamp", since=time_text(start))


class Meter:
    """Measures the watermark of records while they are landed."""

    def __init__(self, mark: Mark, started_at: datetime) -> None:
        self._mark = mark
        self._steps = [str(step) for step in path_steps(mark.by)]
        self._started_at = started_at
        self._until = value_of(mark.type, mark.until) if mark.until is not None else None
        self._text = mark.until
        self._counts = {"counted": mark.counted, "unset": mark.unset,
                        "unreadable": mark.unreadable, "ahead": mark.ahead}  # fmt: skip

    @property
    def mark(self) -> Mark:
        """What was measured so far."""
        return self._mark.model_copy(update={"until": self._text, **self._counts})

    def refuse_wrong_path(self) -> None:
        """Refuse records of which none has the watermark: the next run would begin where this did.

        Raises:
            SourceShapeError: There are records, and their watermark is absent or of another type.
        """
        if self._counts["unreadable"] and sum(self._counts.values()) == self._counts["unreadable"]:
            raise SourceShapeError(
                f"none of {self._counts['unreadable']} records has a {self._mark.type} at "
                f"{self._mark.by}, which is the watermark of endpoint.incremental"
            )

    def passed(self, records: Iterable[bytes]) -> Iterator[bytes]:
        """Yield records as they are, each measured."""
        for record in records:
            self._counts[self._measure(record)] += 1
            yield record

    def _measure(self, record: bytes) -> str:
        fields = read_fields(record)
        found = value_along(fields, self._steps) if fields else None
        if found == b"null":
            return "unset"
        text = text_of(self._mark.type, found) if found else None
        value = None if text is None else value_of(self._mark.type, text)
        if value is None:
            return "unreadable"
        # A record from the future would drag the watermark over what is still to come.
        if isinstance(value, datetime) and value > self._started_at:
            return "ahead"
        if self._until is None or value > self._until:  # type: ignore[operator]
            self._until, self._text = value, text
        return "counted"
