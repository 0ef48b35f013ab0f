"""What an operator reads: blocks of lines for a terminal of 80 columns.

Keys and ids are never broken, so that they can be copied.
"""

import textwrap
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from lakekit import layout
from lakekit.landing.decisions import APPROVABLE, Decision
from lakekit.operate.decide import Decided
from lakekit.operate.find import short_name
from lakekit.operate.landings import Landing, Reason, Waiting
from lakekit.operate.runs import RecentRun
from lakekit.operate.status import TableStatus
from lakekit.operate.watermarks import TableWatermark

WIDTH = 80
# How much of a cause a list shows; one landing, and --json, have all of it.
_MOST_SHOWN = 300


def runs_text(runs: Sequence[RecentRun]) -> str:
    """Return recent runs, two lines for each and the error of one that failed."""
    return "\n".join(line for run in runs for line in _run(run)) or "no runs"


def landings_text(landings: Sequence[Waiting]) -> str:
    """Return landings that wait, a line for each and why, if a person must decide."""
    return "\n".join(line for each in landings for line in _waiting(each)) or "no landing waits"


def landing_text(landing: Landing, where: str) -> str:
    """Return all that is known of a landing, and the commands by which a person decides.

    Args:
        landing: The landing.
        where: The option of these commands that names the place.
    """
    return "\n".join([*_landing(landing), *_choices(landing, where)])


def status_text(tables: Sequence[TableStatus]) -> str:
    """Return where tables are, a line for one at which nothing waits."""
    return "\n".join(line for each in tables for line in _table(each)) or "nothing has landed"


def watermarks_text(watermarks: Sequence[TableWatermark]) -> str:
    """Return where the next runs of tables begin, and why there."""
    return (
        "\n".join(line for each in watermarks for line in _watermark(each))
        or "no table is incremental"
    )


def decided_text(decided: Decided, *, here: bool = False) -> str:
    """Return what was decided, and what follows; here a person starts runs."""
    lines = [f"{decided.decision}: {short_name(each)}" for each in decided.landings]
    for table, owner in decided.held_by.items():
        # Nobody looks at the index after a rebuild but the sweeper.
        after = (
            "within 15 minutes of its end" if owner == layout.REBUILD_OWNER else "when it has ended"
        )
        lines += wrapped(f"{table} is held by {_owner(owner)}; a run starts {after}")
    if decided.started:
        lines += wrapped(f"started run {decided.started}")
    if here:
        lines.append("`lakekit run` of the source takes up what is pending")
    elif not decided.started and not decided.held_by:
        lines.append("nothing else is pending, so no run was started")
    return "\n".join(lines)


def _run(run: RecentRun) -> Iterator[str]:
    took = timedelta(seconds=round(run.seconds))
    yield f"{_time(run.started_at)}  {run.outcome:<9}  {took}  {run.source or 'unknown source'}"
    yield f"  {run.run_id}"
    if run.tables:
        yield from wrapped(", ".join(f"{name} ({n})" for name, n in run.tables.items()), "  ")
    if run.error:
        yield from wrapped(f"{run.error}: {_short(run.cause or '')}", "  ")


def _waiting(landing: Waiting) -> Iterator[str]:
    yield f"{landing.state}  {landing.table} {landing.time}  of {landing.source}"
    if landing.blocked:
        yield from _reason(landing.blocked, _short(landing.blocked.cause))


def _reason(reason: Reason, cause: str) -> Iterator[str]:
    yield from wrapped(f"{reason.error}: {cause}", "  ")
    found = f"found by {reason.run_id} at" if reason.run_id else "found at"
    yield from wrapped(f"{found} {_time(reason.blocked_at)}", "  ")


def _landing(landing: Landing) -> Iterator[str]:
    yield f"{landing.state}  {landing.table} {landing.time}  of {landing.source}"
    yield f"  {landing.manifest}"
    if landing.fault:
        yield from wrapped(landing.fault, "  ")
    else:
        content = f"{landing.rows:,} rows, {landing.bytes:,} bytes, {landing.extract} extract"
        yield from wrapped(f"{content}, landed by {landing.run_id}", "  ")
    if landing.blocked:
        yield from _reason(landing.blocked, landing.blocked.cause)
    yield from _decision("approved", landing.approval)
    yield from _decision("rejected", landing.rejection)
    if landing.completed_by is not None:
        yield from wrapped(f"merged or superseded in run {landing.completed_by}", "  ")
    yield from (f"  {each}" for each in landing.objects)


def _watermark(found: TableWatermark) -> Iterator[str]:
    yield f"{found.source}.{found.table}  {found.value}"
    kind = f"{found.type} of {found.by}" if found.by.startswith("$") else "windows of time"
    if not found.is_stored:
        yield from wrapped(f"{kind}, the start of its contract: no landing is complete", "  ")
    elif found.changed_at:
        why = f"set by {found.set_by}" if found.set_by else f"reached by {found.reached_by}"
        yield from wrapped(f"{found.stored_as or kind}, {why} at {_time(found.changed_at)}", "  ")
    if found.stored_as:
        yield from wrapped(f"the contract has {kind}: set where it begins", "  ")


def _decision(word: str, decision: Decision | None) -> Iterator[str]:
    if decision:
        by = f" by {decision.decided_by}" if decision.decided_by else ""
        text = f"{word}{by} at {_time(decision.decided_at)}: {decision.reason}"
        yield from wrapped(text, "  ")


def _choices(landing: Landing, where: str) -> Iterator[str]:
    if landing.state in ("complete", "rejected"):
        return
    name = f"{landing.table} {landing.time} {where}".rstrip()
    if landing.blocked and landing.blocked.error in APPROVABLE:
        yield f'to merge it as it is:\n  lakekit approve {name} --reason "…"'
    again = "to try it again, once its cause is corrected" if landing.blocked else "to start a run"
    yield f"{again}:\n  lakekit retry {name}"
    yield f'never to merge it:\n  lakekit reject {name} --reason "…"'


def _table(table: TableStatus) -> Iterator[str]:
    newest = _time(table.newest_complete) if table.newest_complete else "none"
    name = f"{table.source} {table.table}"
    found = []
    if table.pending and table.oldest_pending:
        found.append(f"{table.pending:,} pending, the oldest of {_time(table.oldest_pending)}")
    if table.blocked:
        found.append(f"{table.blocked:,} blocked: see lakekit landings --blocked")
    if table.held_by:
        found.append(f"held by {_owner(table.held_by)}")
    if table.failures:
        again = f"next try after {_time(table.next_try)}" if table.next_try else "tried at once"
        found.append(f"failed {table.failures} times in a row; {again}")
    if not found:
        yield from wrapped(f"{name}  nothing waits; newest complete: {newest}")
        return
    yield name
    for each in (*found, f"newest complete: {newest}"):
        yield from wrapped(each, "  ")


def _owner(owner: str) -> str:
    if owner == layout.REBUILD_OWNER:
        return "a rebuild"
    if owner.startswith(layout.MAINTENANCE):
        return f"maintenance {owner.removeprefix(layout.MAINTENANCE)}"
    return f"run {owner}"


def _short(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]} …"


def _time(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S}"


def wrapped(text: str, indent: str = "") -> list[str]:
    """Return a text in lines for 80 columns, its words unbroken."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent or "  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
