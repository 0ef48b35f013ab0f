"""A key's history as bars, and what runs did, drawn with matplotlib."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from lakekit.errors import InvalidStepInputError
from lakekit.values import to_text
from lakekit.warehouse.rows import Rows, optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's, which also differ for people who do not see all colours.
_COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#0072B2", "#D55E00")
_MOST_LINES, _MOST_LETTERS = 12, 24


class Bar(NamedTuple):
    """A value of a column, and the time for which it held; `end` is None while it does."""

    value: Any
    start: datetime
    end: datetime | None


def bars(versions: Sequence[dict[str, Any]], column: str) -> list[Bar]:
    """Return the values of a column over time: versions that follow each other are one bar."""
    found: list[Bar] = []
    for each in versions:
        value, start, end = each[column], each["_valid_from"], each["_valid_to"]
        if found and found[-1].end == start and found[-1].value == value:
            found[-1] = found[-1]._replace(end=end)
        else:
            found.append(Bar(value, start, end))
    return found


def plot_history(
    table: str, keys: Sequence[str], history: Rows, columns: Sequence[str] | None, ax: "Axes | None"
) -> "Axes":
    """Draw the versions of a key; see `Table.plot_history`."""
    versions = history.dicts()
    _refuse_several(table, keys, versions)
    shown = list(columns or _changed(history.columns, keys, versions))
    if unknown := [name for name in shown if name not in history.columns]:
        raise InvalidStepInputError(
            f"{table}: no column '{unknown[0]}'; there are {', '.join(history.columns)}"
        )
    axes = ax or _axes(len(shown))
    start, end = _span(versions)
    for line, column in enumerate(shown):
        _draw(axes, line, bars(versions, column), end)
    named = ", ".join(f"{key}={to_text(versions[0][key])}" for key in keys)
    # A dollar in a key is no mathematics.
    axes.set_title(f"{table}: {named}", parse_math=False)
    axes.set(xlim=(start, end), ylim=(len(shown) - 0.5, -0.5))
    axes.set_yticks(range(len(shown)), shown)
    axes.grid(axis="x", alpha=0.3)
    axes.figure.autofmt_xdate()
    return axes


def plot_runs(table: str, runs: Rows, ax: "Axes | None") -> "Axes":
    """Draw what runs did; see `Table.plot_runs`."""
    known = [each for each in runs.dicts() if each["opened"] is not None]
    if not known:
        raise InvalidStepInputError(f"{table}: no snapshot of it shows what a run did")
    axes = ax or _axes(4)
    counted = ("opened", "closed", "quarantined")
    width = 0.8 / len(counted)
    for place, (name, colour) in enumerate(zip(counted, _COLOURS, strict=False)):
        at = [number + place * width for number in range(len(known))]
        drawn = axes.bar(at, [each[name] for each in known], width, label=name, color=colour)
        axes.bar_label(drawn, padding=2, fontsize="small")
    labels = [f"{each['extraction_time'] or each['committed_at']:%Y-%m-%d %H:%M}" for each in known]
    axes.set_xticks(
        [number + width for number in range(len(known))], labels, rotation=30, ha="right"
    )
    axes.set_title(f"{table}: what runs did", loc="left")
    axes.set_ylabel("versions, records")
    axes.margins(y=0.15)
    axes.locator_params(axis="y", integer=True)
    axes.legend(frameon=False, ncols=len(counted), loc="lower right", bbox_to_anchor=(1, 1))
    return axes


def _axes(lines: int) -> "Axes":
    pyplot = optional("matplotlib.pyplot", "plot")
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.6 * max(lines, 1)), layout="constrained")
    made: Axes = axes
    # A notebook shows what a cell returns. Shown by pyplot too, it would be there twice.
    pyplot.close(figure)
    return made


def _draw(axes: "Axes", line: int, found: Sequence[Bar], end: datetime) -> None:
    """Draw the bars of a column; a value keeps its colour, a null is a gap with a frame."""
    # Its types say numbers, and it takes times too.
    anything: Any = axes
    values = list(dict.fromkeys(to_text(bar.value) for bar in found if bar.value is not None))
    for bar in found:
        text = "" if bar.value is None else to_text(bar.value)
        colour = "none" if bar.value is None else _COLOURS[values.index(text) % len(_COLOURS)]
        length = (bar.end or end) - bar.start
        anything.barh(
            line, length, left=bar.start, height=0.6, color=colour, edgecolor="#555555",
            linewidth=0.6,
        )  # fmt: skip
        shown = text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"
        anything.text(
            bar.start + length / 2, line, shown, ha="center", va="center", fontsize="small",
            clip_on=True, parse_math=False,
        )  # fmt: skip


def _span(versions: Sequence[dict[str, Any]]) -> tuple[datetime, datetime]:
    """Return from when to when a history is drawn: a little longer than the last change."""
    times = [each[name] for each in versions for name in ("_valid_from", "_valid_to")]
    known = [time for time in times if time is not None]
    first, last = min(known), max(known)
    still = any(each["_valid_to"] is None for each in versions)
    return first, last + max((last - first) / 4, timedelta(days=1)) if still else last


def _changed(
    columns: Sequence[str], keys: Sequence[str], versions: Sequence[dict[str, Any]]
) -> Iterator[str]:
    """Yield the columns whose values differ between versions; all, if none does."""
    content = [name for name in columns if name not in keys and not name.startswith("_")]
    pairs = list(pairwise(versions))
    differing = [name for name in content if any(a[name] != b[name] for a, b in pairs)]
    yield from (differing or content)[:_MOST_LINES]


def _refuse_several(table: str, keys: Sequence[str], versions: Sequence[dict[str, Any]]) -> None:
    found = {tuple(to_text(each[key]) for key in keys) for each in versions}
    if len(found) > 1:
        raise InvalidStepInputError(
            f"{table}: {len(found)} keys have these values; give all of {', '.join(keys)}"
        )
