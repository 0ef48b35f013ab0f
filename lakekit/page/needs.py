"""What needs a person, with the commands that answer it: first what stops data. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from statistics import median

from lakekit.landing.decisions import APPROVABLE
from lakekit.operate.landings import Waiting
from lakekit.operate.status import TableStatus
from lakekit.page.model import Load, Need, PageRun, PageTable
from lakekit.page.operated import Operated
from lakekit.page.words import ago, count, share
from lakekit.watch.watch import Watched

# A share of rejected records is above the norm if it is so many times that of earlier loads, or of
# a table without such loads more than a run may have by default.
_TIMES, _EARLIER, _RATIO = 3, 3, 0.01
_FAILED = ("failed", "timed out", "stopped")
# Of one kind; the commands show all.
_MOST_OF_A_KIND = 8


def all_needs(
    option: str,
    now: datetime,
    tables: Sequence[PageTable],
    runs: Sequence[PageRun],
    operated: Operated | None = None,
) -> tuple[Need, ...]:
    """Return what needs a person.

    Args:
        option: By which the commands name the place.
        now: The time.
        tables: Those of the page.
        runs: Those of the page, the newest first.
        operated: What the deployment says of itself, if the place is one.
    """
    of_place = _of_place(operated, option) if operated else []
    found = [
        *of_place,
        *_bounded(_stale(tables, now, option)),
        *_bounded(_failed(runs, option)),
        *_bounded(_quarantined(tables, option)),
        *_bounded(_files(tables)),
    ]
    return tuple(sorted(found, key=lambda each: each.severity != "act"))


def _of_place(operated: Operated, option: str) -> list[Need]:
    return [
        *_bounded(_landings(operated.waiting, option)),
        *_dead(operated.dead),
        *_bounded(_overdue(operated.watched, option)),
        *_bounded(_backing_off(operated.status, option)),
    ]


def _bounded(needs: Iterator[Need]) -> list[Need]:
    found = list(needs)
    if len(found) <= _MOST_OF_A_KIND:
        return found
    left = len(found) - _MOST_OF_A_KIND
    more = Need(severity=found[-1].severity, title=f"{left} more like the last one")
    return [*found[:_MOST_OF_A_KIND], more]


def _landings(waiting: Sequence[Waiting], option: str) -> Iterator[Need]:
    for each in waiting:
        named = f"{each.table} {each.time}"
        error = each.blocked.error if each.blocked else ""
        approve = f'lakekit approve {named} --reason "…" {option}'
        retry = f"lakekit retry {named} {option}"
        yield Need(
            severity="act",
            table=each.table,
            title=f"{each.table}: a landing waits for a decision",
            detail=f"{error}: {each.blocked.cause}"[:400] if each.blocked else "",
            commands=(
                f"lakekit landings {named} {option}",
                approve if error in APPROVABLE else retry,
                f'lakekit reject {named} --reason "…" {option}',
            ),
        )


def _dead(dead: Mapping[str, int]) -> Iterator[Need]:
    for queue, number in dead.items():
        if number:
            yield Need(
                severity="act",
                title=f"{count(number)} dead letter{'s' * (number != 1)} in the queue {queue}",
                detail="Its messages name what failed again and again: files of the inbox, starts "
                "of schedules. Mend the cause, then let them be tried again.",
                commands=(
                    "aws sqs receive-message --queue-url "
                    f"$(aws sqs get-queue-url --queue-name {queue} --output text)",
                ),
            )


def _overdue(watched: Watched | None, option: str) -> Iterator[Need]:
    for source in watched.overdue if watched else ():
        yield Need(
            severity="act",
            title=f"{source}: its schedule was to fire and did not",
            commands=(f"lakekit runs --source {source} {option}",),
        )


def _stale(tables: Sequence[PageTable], now: datetime, option: str) -> Iterator[Need]:
    for table in tables:
        if table.stale:
            yield Need(
                severity="act",
                table=table.name,
                title=f"{table.name}: stale, it was last loaded {ago(table.loaded_at, now)}",
                detail="Nothing was loaded since the firing of its schedule before the last.",
                commands=(f"lakekit status {option}",),
            )


def _backing_off(status: Sequence[TableStatus], option: str) -> Iterator[Need]:
    for each in status:
        if each.failures:
            tries = "once" if each.failures == 1 else f"{each.failures} times in a row"
            after = f"; the next try is after {each.next_try:%H:%M}" if each.next_try else ""
            yield Need(
                severity="act",
                table=each.table,
                title=f"{each.table}: its merge failed {tries}",
                detail=f"{each.pending} landings wait{after}.",
                commands=(f"lakekit runs --source {each.source} {option}",),
            )


def _failed(runs: Sequence[PageRun], option: str) -> Iterator[Need]:
    """Yield the sources whose newest run that has ended failed."""
    seen = set()
    for run in runs:
        if run.outcome == "running" or run.source in seen:
            continue
        seen.add(run.source)
        if run.outcome in _FAILED:
            source = f"--source {run.source} " if run.source else ""
            yield Need(
                severity="act",
                title=f"{run.source or run.run_id}: the last run {_ended(run.outcome)}",
                detail=f"{run.error}: {run.cause}"[:400] if run.error else "",
                commands=(f"lakekit runs {source}{option}",),
            )


def _ended(outcome: str) -> str:
    return {"failed": "failed", "stopped": "was stopped"}.get(outcome, outcome)


def _quarantined(tables: Sequence[PageTable], option: str) -> Iterator[Need]:
    for table in tables:
        if table.loads and (detail := _above_norm(table.loads)):
            quarantine = next((c for c in table.attached if c.endswith("_quarantine")), None)
            query = f"SELECT _fault, count(*) FROM {quarantine} GROUP BY 1"
            yield Need(
                severity="look",
                table=table.name,
                title=f"{table.name}: more records than usual were rejected",
                detail=detail,
                commands=(f'lakekit sql "{query}" {option}',) if quarantine else (),
            )


def _above_norm(loads: Sequence[Load]) -> str | None:
    """Return what is unusual in the share of rejected records of the last load."""
    last = loads[-1].quarantine_share
    if not last:
        return None
    earlier = [each.quarantine_share for each in loads[:-1] if each.quarantine_share is not None]
    usual = median(earlier) if len(earlier) >= _EARLIER else 0
    if last <= max(_TIMES * usual, _RATIO if not usual else 0):
        return None
    compared = f", and {share(usual)} of the loads before it" if usual else ""
    rejected = count(loads[-1].quarantined)
    return f"{rejected} records of the last load, {share(last)} of it{compared}."


def _files(tables: Sequence[PageTable]) -> Iterator[Need]:
    for table in tables:
        if table.files.fault:
            files = table.files
            yield Need(
                severity="look",
                table=table.name,
                title=f"{table.name}: {files.fault}",
                detail=f"{count(files.data)} data files, {count(files.deletes)} delete files. "
                "Maintenance sees to it after the next load.",
            )
