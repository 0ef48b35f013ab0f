"""The steps of one extraction: one walk through the pages, or one for each window of time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.contract.endpoint.incremental import TIME_FORMATS, Incremental, earlier, value_of
from lakekit.contract.endpoint.placeholders import RunValues
from lakekit.extract.client import SourceClient
from lakekit.extract.pages import Page, extract_pages
from lakekit.extract.walks.exports import extract_export
from lakekit.models import Model


class _State(Model):
    """Between two pages. position: None behind the last one. step: its number, from 0.

    pages: those of the steps before it. within: how to go on within it, if it was begun.
    """

    position: int | None = 0
    step: int = 0
    pages: int = 0
    within: dict[str, Any] | None = None


class _Windows(Sequence[RunValues]):
    """Windows of time without a hole, made when they are asked for: there may be many."""

    def __init__(
        self, begin: datetime, until: datetime, length: timedelta, values: RunValues
    ) -> None:
        self._begin, self._until, self._length = begin, until, length
        self._values = values

    def __len__(self) -> int:
        return max(0, -((self._begin - self._until) // self._length))

    def __getitem__(self, at: Any) -> Any:
        begin = self._begin + at * self._length
        # Not by adding the length, which may lead beyond the year 9999.
        end = self._until if at + 1 == len(self) else begin + self._length
        return replace(self._values, incremental={"window.start": begin, "window.end": end})


def values_of_steps(
    incremental: Incremental | None, since: str, values: RunValues
) -> Sequence[RunValues]:
    """Return what placeholders stand for in each step; no step if no time has passed.

    Args:
        incremental: That of the endpoint.
        since: Where the run begins, before looking back.
        values: What placeholders stand for in all steps.
    """
    if incremental is None:
        return [values]
    found = value_of(incremental.type, since)
    if isinstance(found, datetime):
        found = earlier(found, incremental.look_back_seconds)
        if incremental.window:
            return values_of_windows(incremental, found, windows_end(values.started_at), values)
    asked = found if isinstance(found, datetime) else since
    form = TIME_FORMATS.get(incremental.type, incremental.type)
    return [replace(values, incremental={"watermark": asked}, watermark_format=form)]


def values_of_windows(
    incremental: Incremental, begin: datetime, until: datetime, values: RunValues
) -> Sequence[RunValues]:
    """Return what placeholders stand for in each window of a time."""
    assert incremental.window  # noqa: S101
    return _Windows(begin, until, incremental.window.length, values)


def windows_end(started_at: datetime) -> datetime:
    """Return where the last window of a run ends: at its start, in whole seconds."""
    return started_at.replace(microsecond=0)


def end_of_window(step: RunValues) -> datetime:
    """Return where the window of a step ends."""
    end = step.incremental["window.end"]
    assert isinstance(end, datetime)  # noqa: S101
    return end


def extract_steps(
    source: Source,
    contract: Contract,
    client: SourceClient,
    steps: Sequence[RunValues],
    *,
    resume: dict[str, Any] | None = None,
) -> Iterator[Page]:
    """Yield the pages of all steps, or of an export for each; see `extract_pages`.

    A page is the last one if it is that of the last step.
    """
    state = _State.model_validate(resume) if resume else _State()
    pages_of = extract_export if contract.endpoint.export else extract_pages
    first = len(steps) if state.position is None else state.step
    for number in range(first, len(steps)):
        before, page = state.pages, None
        for page in pages_of(source, contract, client, steps[number], resume=state.within):
            within = {"step": number, "pages": before, "within": page.resume}
            behind = {"step": number + 1, "pages": before + page.number, "within": None}
            if page.last and number + 1 == len(steps):
                behind["position"] = None
            after = state.model_copy(update=behind if page.last else within)
            yield Page(
                page.records, before + page.number, after.model_dump(mode="json"), page.wait_seconds
            )
        state = _State(step=number + 1, pages=before + (page.number if page else 0))
