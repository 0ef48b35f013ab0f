"""Small drawings as SVG, each with its meaning in words; colours come from the style sheet."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import sqrt

from markupsafe import Markup

from lakekit.page.model import KeyHistory, Load, Rejects, Snapshot
from lakekit.page.words import count, share

# Of the drawing of loads, in pixels: above and below its line, and from one load to the next.
_ABOVE, _BELOW, _STEP, _BAR = 20, 12, 8, 6
# What a table of one load needs no drawing of.
_MOST_LOADS = 24
_LOADS = Markup(
    '<svg class="loads" role="img" aria-label="{text}" width="{width}" height="{height}" '
    'viewBox="0 0 {width} {height}"><path class="o" d="{up}"/><path class="c" d="{down}"/>'
    '<g class="q">{dots}</g></svg>'
)
_DOT = Markup('<circle cx="{:g}" cy="2.5" r="2.5"/>')
_LINE = Markup(
    '<svg class="line" role="img" aria-label="{text}" width="100%" height="32">'
    '<path class="axis" d="M0 16h9999"/>{marks}</svg>'
)
_MARK = Markup(
    '<circle class="{kind}" cx="{x:g}%" cy="16" r="{radius:g}"><title>{text}</title></circle>'
)
_BARS = Markup(
    '<svg class="bars" role="img" aria-label="{text}" width="100%" height="16">{bars}</svg>'
)
_VERSION = Markup(
    '<rect class="{kind}" x="{x:g}%" width="{width:g}%" height="16" rx="3">'
    "<title>{text}</title></rect>"
)
_METER = Markup(
    '<span class="meter"><svg aria-hidden="true" width="48" height="6">'
    '<rect class="rail" width="48" height="6" rx="3"/>'
    '<rect class="{kind}" width="{width:g}" height="6" rx="3"/></svg> {text}</span>'
)
_NULLS = Markup('<td class="nl" style="--n:{percent:.3g}%">{text}</td>')


def loads_chart(loads: Sequence[Load]) -> Markup:
    """Draw loads, the newest to the right: opened above the line, closed below it.

    Heights are square roots, as the first load of a table is often a thousand times the others.
    """
    shown = loads[-_MOST_LOADS:]
    if not shown:
        return Markup('<span class="none">no loads</span>')
    most_up = max(1, *(each.opened for each in shown))
    most_down = max(1, *(each.closed for each in shown))
    up = (_bar(n, -_height(each.opened, most_up, _ABOVE)) for n, each in enumerate(shown))
    down = (_bar(n, _height(each.closed, most_down, _BELOW)) for n, each in enumerate(shown))
    dots = (_DOT.format(n * _STEP + _BAR / 2) for n, each in enumerate(shown) if each.quarantined)
    return _LOADS.format(
        text=loads_text(shown),
        width=len(shown) * _STEP,
        height=_ABOVE + _BELOW + 6,
        up="".join(up),
        down="".join(down),
        dots=Markup("").join(dots),
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
    marks = (
        _MARK.format(
            kind=_kind(each),
            x=_percent(each.at, times[0], times[-1], 3),
            radius=round(4 + 7 * sqrt(each.added / most), 1),
            text=_snapshot(each),
        )
        for each in snapshots
    )
    first, last = (f"{each:%Y-%m-%d %H:%M}" for each in (times[0], times[-1]))
    text = f"{len(snapshots)} snapshots from {first} to {last}"
    return _LINE.format(text=text, marks=Markup("").join(marks))


def history_chart(history: KeyHistory, first: datetime, last: datetime) -> Markup:
    """Draw the versions of a key as bars between two times; the current one is full."""
    bars = []
    for each in history.versions:
        begin = _percent(each.valid_from, first, last, 0)
        end = _percent(each.valid_to or last, first, last, 0)
        kind = "deleted" if each.is_deleted else "past" if each.valid_to else "now"
        until = f"{each.valid_to:%Y-%m-%d}" if each.valid_to else "now"
        bars.append(
            _VERSION.format(
                kind=kind,
                x=min(begin, 99.4),
                width=round(max(end - begin - 0.25, 0.6), 2),
                text=f"{each.valid_from:%Y-%m-%d} to {until}",
            )
        )
    text = f"{history.key}: {history.count} versions"
    return _BARS.format(text=text, bars=Markup("").join(bars))


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
    """Draw the share of rows without a value as a cell of a table, whose ground is the bar."""
    part = nulls / rows if nulls is not None and rows else None
    return _NULLS.format(percent=100 * (part or 0), text=share(part))


def _meter(kind: str, part: float, text: str) -> Markup:
    return _METER.format(kind=kind, width=round(48 * part, 1), text=text)


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
