"""When a schedule fires: what did not happen, and what a month costs, cannot be seen otherwise."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

from lakekit.config.money import Pause
from lakekit.config.schedule import DAYS, MONTHS, Schedule

_SECOND = timedelta(seconds=1)
_UNITS = {"minute": 60, "hour": 3600, "day": 86_400}
# A cron that names 29 February fires every four years, or eight.
_FARTHEST = timedelta(days=366 * 8 + 1)


def previous_firing(schedule: Schedule, before: datetime) -> datetime | None:
    """Return when a schedule was to fire last, at that time or before it.

    A rate has no time of day: it is that long before. None if a cron names no such time.

    Example:
        >>> daily = Schedule(expression="cron(0 6 * * ? *)", time_zone="Europe/Berlin")
        >>> previous_firing(daily, datetime(2026, 7, 1, 12, tzinfo=UTC)).isoformat()
        '2026-07-01T04:00:00+00:00'
    """
    return next(_firings_before(schedule, before), None)


def firings(schedule: Schedule, begin: datetime, end: datetime) -> Iterator[datetime]:
    """Return when a schedule fires from `begin` to before `end`, the latest first.

    Example:
        >>> week = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 9, tzinfo=UTC)
        >>> len(list(firings(Schedule(expression="cron(0 6 ? * MON-FRI *)"), *week)))
        5
    """
    # A rate is never found at the time itself.
    before = end if schedule.expression.startswith("rate") else end - _SECOND
    return takewhile(lambda found: found >= begin, _firings_before(schedule, before))


def is_paused(pause: Pause, time: datetime) -> bool:
    """Say whether an environment's schedules are switched off at a time."""
    began, ended = (
        previous_firing(Schedule(expression=each, time_zone=pause.time_zone), time)
        for each in (pause.begins, pause.ends)
    )
    return began is not None and (ended is None or began > ended)


def _firings_before(schedule: Schedule, before: datetime) -> Iterator[datetime]:
    """Yield when a schedule fires, the latest first; without an end, but for crons that end."""
    kind, _, inside = schedule.expression.rstrip(")").partition("(")
    if kind == "cron":
        yield from _crons_before(inside.upper().split(" "), ZoneInfo(schedule.time_zone), before)
        return
    number, unit = inside.split(" ")
    while True:
        before -= timedelta(seconds=int(number) * _UNITS[unit.rstrip("s")])
        yield before


def _crons_before(fields: list[str], zone: ZoneInfo, before: datetime) -> Iterator[datetime]:
    times = [
        (hour, minute)
        for hour in sorted(_values(fields[1], 0, 23), reverse=True)
        for minute in sorted(_values(fields[0], 0, 59), reverse=True)
    ]
    day = latest = before.astimezone(zone).date()
    while latest - day < _FARTHEST:
        if _fires_on(fields, day):
            for hour, minute in times:
                local = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
                if local <= before:
                    found = local.astimezone(UTC)
                    yield found
                    before, latest = found - _SECOND, day
        day -= timedelta(days=1)


def _fires_on(fields: list[str], day: date) -> bool:
    _, _, of_month, month, of_week, year = fields
    if day.year not in _values(year, 1970, 2199):
        return False
    if day.month not in _values(month, 1, 12, MONTHS):
        return False
    if of_month == "?":
        return any(_is_weekday(term, day) for term in of_week.split(","))
    return any(_is_day(term, day) for term in of_month.split(","))


def _is_day(term: str, day: date) -> bool:
    """Say whether a term of day-of-month means a day: also `L`, `LW`, `15W`."""
    last = monthrange(day.year, day.month)[1]
    if term == "L":
        return day.day == last
    if term.endswith("W"):
        return day == _nearest_weekday(day.replace(day=last if term == "LW" else
                                                   min(int(term[:-1]), last)))  # fmt: skip
    return day.day in _values(term, 1, 31)


def _nearest_weekday(day: date) -> date:
    """Return the nearest day from Monday to Friday in the same month."""
    steps = {5: (-1, 2), 6: (1, -2)}.get(day.weekday(), (0,))
    days = [day + timedelta(days=step) for step in steps]
    return next(each for each in days if each.month == day.month)


def _is_weekday(term: str, day: date) -> bool:
    """Say whether a term of day-of-week means a day: also `FRIL` (the last one), `6#3`."""
    number = day.isoweekday() % 7 + 1
    if "#" in term:
        name, nth = term.split("#")
        return number == _number(name, DAYS) and (day.day - 1) // 7 + 1 == int(nth)
    if term.endswith("L"):
        weekday = _number(term[:-1], DAYS) if term != "L" else 7
        return number == weekday and day.day + 7 > monthrange(day.year, day.month)[1]
    return number in _values(term, 1, 7, DAYS)


def _values(field: str, least: int, greatest: int, names: tuple[str, ...] = ()) -> set[int]:
    return {value for term in field.split(",") for value in _term(term, least, greatest, names)}


def _term(term: str, least: int, greatest: int, names: tuple[str, ...]) -> Iterator[int]:
    """Yield the values of `*`, a value, a range or a step; a range may pass the greatest."""
    text, _, step = term.partition("/")
    first, _, last = text.partition("-")
    if first == "*":
        begin, end = least, greatest
    else:
        begin = _number(first, names)
        end = _number(last, names) if last else (greatest if step else begin)
    span = greatest - least + 1
    for value in range(begin, end + 1 if end >= begin else end + span + 1, int(step or 1)):
        yield (value - least) % span + least


def _number(text: str, names: tuple[str, ...]) -> int:
    return names.index(text) + 1 if text in names else int(text)
