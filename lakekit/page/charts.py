"""Small drawings as SVG, each with its meaning in words; colours come from the style sheet."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import sqrt

from markupsafe import Markup, escape

from lakekit.page.model import KeyHistory, Load, Rejects, Snapshot
from lakekit.page.words import count, share

# Of the drawing of loads, in pixels: above and below its line, and from one load to the next.
_ABOVE, _BELOW, _STEP, _BAR = 20, 12, 8, 6
# What a table of one load needs no drawing of.
_MOST_LOADS = 24


def loads_chart(loads: Sequence[Load]) -> Markup:
    """Draw loads, the newest to the right: opened above the line, closed below it.

    Heights are square roots, as the first load of a table is often a thousand times the others.
    """
    shown = loads[-_MOST_LOADS:]
    if not shown:
        return Markup('<span class="none">no loads</span>')
    most_up = max(1, *(each.opened for each in shown))
    most_down = max(1, *(each.closed for each in shown))
    up = "".join(
        _bar(place, -_height(each.opened, most_up, _ABOVE)) for place, each in enumerate(shown)
    )
    down = "".join(
        _bar(place, _height(each.closed, most_down, _BELOW)) for place, each in enumerate(shown)
    )
    dots = "".join(
        f'<circle cx="{place * _STEP + _BAR / 2:g}" cy="2.5" r="2.5"/>'
        for place, each in enumerate(shown)
        if each.quarantined
    )
    width, height = len(shown) * _STEP, _ABOVE + _BELOW + 6
    return Markup(
        f'<svg class="loads" role="img" aria-label="{escape(loads_text(shown))}" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f'<path class="o" d="{up}"/><path class="c" d="{down}"/><g class="q">{dots}</g></svg>'
    )


def loads_text(loads: Sequence[Load]) -> str:
    """Return what the drawing of loads says."""
    last = loads[-1]
    number = "One load" if len(loads) == 1 else f"{len(loads)} loads"
    return (
        f"{number}; the last opened {count(last.opened)}, closed {count(last.closed)}, "
        f"quarantined {count(last.quarantined)}"
    )


def snapshots_chart(snapshots: Sequence[Snapshot]) -> Markup:
    """Draw snapshots on a line of time, the larger the more rows they added."""
    if not snapshots:
        return Markup("")
    times = [each.at for each in snapshots]
    most = max(1, *(each.added for each in snapshots))
    marks = "".join(
        f'<circle class="{_kind(each)}" cx="{_percent(each.at, times[0], times[-1], 3):g}%" '
        f'cy="16" r="{4 + 7 * sqrt(each.added / most):.3g}"><title>{escape(_snapshot(each))}'
        "</title></circle>"
        for each in snapshots
    )
    text = f"{len(snapshots)} snapshots from {times[0]:%Y-%m-%d %H:%M} to {times[-1]:%Y-%m-%d %H:%M}"
    return Markup(
        f'<svg class="line" role="img" aria-label="{escape(text)}" width="100%" height="32">'
        f'<path class="axis" d="M0 16h9999"/>{marks}</svg>'
    )


def history_chart(history: KeyHistory, first: datetime, last: datetime) -> Markup:
    """Draw the versions of a key as bars between two times; the current one is full."""
    bars = []
    for each in history.versions:
        begin = _percent(each.valid_from, first, last, 0)
        end = _percent(each.valid_to or last, first, last, 0)
        kind = "gone" if each.is_deleted else "past" if each.valid_to else "now"
        until = f"{each.valid_to:%Y-%m-%d}" if each.valid_to else "now"
        width = max(end - begin - 0.25, 0.6)
        bars.append(
            f'<rect class="{kind}" x="{min(begin, 99.4):g}%" width="{width:.4g}%" height="16" '
            f'rx="3"><title>{each.valid_from:%Y-%m-%d} to {until}</title></rect>'
        )
    text = f"{history.key}: {history.count} versions"
    return Markup(
        f'<svg class="bars" role="img" aria-label="{escape(text)}" width="100%" height="16">'
        f"{''.join(bars)}</svg>"
    )


def period(histories: Sequence[KeyHistory], now: datetime) -> tuple[datetime, datetime]:
    """Return between which times the versions of some keys are drawn."""
    begins = [each.versions[0].valid_from for each in histories if each.versions]
    ends = [v.valid_to or v.valid_from for each in histories for v in each.versions]
    first, last = min(begins, default=now), max([now, *ends])
    return first, max(last, first + timedelta(seconds=1))


def rejects_chart(rejects: Sequence[Rejects], one: Rejects) -> Markup:
    """Draw how many records have one of several reasons."""
    part = one.count / max(each.count for each in rejects)
    return _meter("q", part, f"{count(one.count)} records")


def nulls_chart(nulls: int | None, rows: int | None) -> Markup:
    """Draw the share of rows without a value."""
    if nulls is None or not rows:
        return Markup('<span class="none">–</span>')
    return _meter("n", nulls / rows, share(nulls / rows))


def _meter(kind: str, part: float, text: str) -> Markup:
    return Markup(
        f'<span class="meter"><svg aria-hidden="true" width="48" height="6"><rect class="rail" '
        f'width="48" height="6" rx="3"/><rect class="{kind}" width="{48 * part:.3g}" height="6" '
        f'rx="3"/></svg> {escape(text)}</span>'
    )


def _bar(place: int, height: float) -> str:
    if not height:
        return ""
    return f"M{place * _STEP} {_ABOVE + 5}h{_BAR}v{height:.3g}h-{_BAR}z"


def _height(number: int, most: int, room: int) -> float:
    return max(1.5, room * sqrt(number / most)) if number else 0


def _percent(time: datetime, first: datetime, last: datetime, margin: float) -> float:
    """Return where a time is drawn between two others, in percent of the width."""
    span = (last - first).total_seconds()
    part = (time - first).total_seconds() / span if span else 1
    return round(margin + (100 - 2 * margin) * min(max(part, 0), 1), 2)


def _kind(snapshot: Snapshot) -> str:
    if snapshot.operation == "replace":
        return "m"
    return "o" if snapshot.runs else "x"


def _snapshot(each: Snapshot) -> str:
    made = f" by {', '.join(each.runs[:2])}" if each.runs else ""
    return f"{each.at:%Y-%m-%d %H:%M} {each.operation}: {each.added:,} rows added{made}"
