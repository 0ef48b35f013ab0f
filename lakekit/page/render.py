"""The page as one HTML file: no resource from elsewhere, every value escaped."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from lakekit.page import charts, words
from lakekit.page.model import Page, PageTable

# How large a file may be; of a page that would be larger, details are left out.
MOST_BYTES = 1_000_000
_HERE = Path(__file__).parent
_ATTACHED = ("journal", "quarantine")
_TONES = {"done": "good", "failed": "bad", "timed out": "bad", "stopped": "warn", "running": ""}
_SAFE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


def render(page: Page) -> str:
    """Return the page as HTML, of at most `MOST_BYTES` unless its tables alone are more."""
    html = _render(page)
    for few in (6, 3, 1, 0):
        if len(html.encode()) <= MOST_BYTES:
            break
        html = _render(_shortened(page, few))
    return html


def _render(page: Page) -> str:
    main = [each for each in page.tables if each.kind not in _ATTACHED]
    costs = [each.cost_usd for each in page.runs if each.cost_usd is not None]
    return _template().render(
        page=page,
        main=main,
        columns=sum(len(each.columns) for each in main),
        current=sum(each.current or 0 for each in main),
        versions=sum(each.rows or 0 for each in main),
        last=max((each.loaded_at for each in main if each.loaded_at), default=None),
        failed=sum(_TONES.get(each.outcome) == "bad" for each in page.runs),
        cost=sum(costs) if costs else None,
        timed=any(each.seconds is not None for each in page.runs),
        state=_state,
    )


def _template() -> Template:
    environment = Environment(
        autoescape=True,
        loader=FileSystemLoader(_HERE),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= _FILTERS
    environment.globals |= {
        "charts": charts,
        "css": _own("page.css"),
        "js": _own("page.js"),
        "th": _head,
    }
    return environment.get_template("page.html")


def _shortened(page: Page, few: int) -> Page:
    """Leave out details: of each kind, at most a few are kept of a table."""
    tables = tuple(
        each.model_copy(
            update={
                "histories": tuple(
                    h.model_copy(update={"versions": h.versions[-few:] if few else ()})
                    for h in each.histories[: min(few, 2)]
                ),
                "snapshots": each.snapshots[-5 * few :] if few else (),
                "rejects": tuple(
                    q.model_copy(update={"samples": q.samples[: few // 3]})
                    for q in each.rejects[: few + 1]
                ),
                "columns": each.columns[: 20 + 20 * few],
            }
        )
        for each in page.tables
    )
    note = "Details of the tables are left out, so that the page stays small."
    runs = page.runs[: 20 * (few + 1)]
    return page.model_copy(update={"tables": tables, "runs": runs, "notes": (*page.notes, note)})


def _own(name: str) -> Markup:
    """Return a file of this folder, which no value of a table is in."""
    return Markup((_HERE / name).read_text(encoding="utf-8"))  # noqa: S704


def _head(text: str, kind: str = "") -> Markup:
    return Markup('<th role="columnheader" scope="col" data-s class="{kind}">{text}</th>').format(
        kind=kind, text=text
    )


def _state(table: PageTable) -> Markup:
    chip = Markup('<span class="chip {}">{}</span>')
    if table.stale:
        return chip.format("bad", "stale")
    return (
        chip.format("warn", table.files.fault)
        if table.files.fault
        else chip.format("good", "healthy")
    )


def _anchor(name: str) -> str:
    """Return what a table is linked by, which a link can hold whatever the name is.

    >>> _anchor("airports"), _anchor("a b")
    ('t-airports', 't-c8687a08')
    """
    return f"t-{name}" if _SAFE.fullmatch(name) else f"t-{sha256(name.encode()).hexdigest()[:8]}"


def _point(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


def _day(time: datetime) -> str:
    """Return a date, and the time of day if it has one."""
    return f"{time:%Y-%m-%d}" if time.hour == time.minute == time.second == 0 else _point(time)


def _when(time: datetime | None, now: datetime) -> Markup:
    if time is None:
        return Markup('<span class="none">never</span>')
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        time.isoformat(), _point(time), words.ago(time, now)
    )


_FILTERS: Mapping[str, Callable[..., Any]] = {
    "ago": words.ago,
    "anchor": _anchor,
    "clock": _point,
    "count": words.count,
    "day": _day,
    "dollars": words.dollars,
    "duration": words.duration,
    "size": words.size,
    "tone": lambda outcome: _TONES.get(outcome, ""),
    "when": _when,
}
