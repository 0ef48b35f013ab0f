"""When a source loads by itself, as EventBridge Scheduler reads it."""

import re
from functools import cache
from typing import Annotated, Any, NamedTuple
from zoneinfo import available_timezones

from pydantic import Field, StringConstraints, field_validator

from lakekit.models import Model

# The form alone: a function may have no time zone database. `lakekit check` looks a zone up.
ZoneName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$",
                                            max_length=50)]  # fmt: skip
_RATE = re.compile(r"rate\((1 (minute|hour|day)|([2-9]|[1-9][0-9]+) (minutes|hours|days))\)")
_CRON = re.compile(r"cron\((\S+(?: \S+){5})\)")
_TERM = re.compile(r"(?:\*|(?P<first>[0-9A-Z]+)(?:-(?P<last>[0-9A-Z]+))?)(?:/[1-9][0-9]{0,3})?")
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


class _Field(NamedTuple):
    """One field of a cron expression; `more` is what a term may be besides values and ranges."""

    name: str
    least: int
    greatest: int
    names: tuple[str, ...] = ()
    more: str = ""

    def has(self, value: str) -> bool:
        """Say whether a value is one of this field: terms, separated by commas."""
        if value == "?":
            return bool(self.more)
        return all(map(self._has_term, value.split(",")))

    def _has_term(self, term: str) -> bool:
        """Say whether a term is `*`, a value or a range, with or without a step, or one of more."""
        if self.more and re.fullmatch(self.more, term):
            return True
        found = _TERM.fullmatch(term)
        if not found:
            return False
        given = [found[part] for part in ("first", "last") if found[part] is not None]
        return all(
            v in self.names or (v.isdecimal() and self.least <= int(v) <= self.greatest)
            for v in given
        )


_FIELDS = (
    _Field("minutes", 0, 59),
    _Field("hours", 0, 23),
    _Field("day-of-month", 1, 31, more="LW?|([1-9]|[12][0-9]|3[01])W"),
    _Field("month", 1, 12, MONTHS),
    _Field("day-of-week", 1, 7, DAYS, f"([1-7]|{'|'.join(DAYS)})?L|[1-7]#[1-5]"),
    _Field("year", 1970, 2199),
)


class Schedule(Model):
    """A `rate(…)` or `cron(…)`, the time zone of a `cron`, and the window of each start."""

    expression: str
    time_zone: ZoneName = "UTC"
    flexible_minutes: Annotated[int, Field(ge=0, le=1440)] = 0

    @field_validator("expression")
    @classmethod
    def _is_a_schedule(cls, text: str) -> str:
        return check_expression(text)


def parse_schedule(value: Any) -> Any:
    """Return the fields of a schedule that is an expression alone; anything else as it is."""
    return {"expression": value} if isinstance(value, str) else value


def check_expression(text: str) -> str:
    """Return an expression.

    Raises:
        ValueError: EventBridge Scheduler would refuse it.

    Example:
        >>> check_expression("cron(0/15 6-20 ? * MON-FRI *)")
        'cron(0/15 6-20 ? * MON-FRI *)'
    """
    if _RATE.fullmatch(text):
        return text
    cron = _CRON.fullmatch(text)
    if not cron:
        raise ValueError("must be 'rate(1 hour)' or 'cron(0 6 * * ? *)' with six fields")
    values = cron.group(1).upper().split(" ")
    for value, field in zip(values, _FIELDS, strict=True):
        if not field.has(value):
            raise ValueError(
                f"cron: '{value}' cannot be the {field.name}: {field.least} to {field.greatest}"
            )
    if (values[2] == "?") == (values[4] == "?"):
        raise ValueError("cron: exactly one of day-of-month and day-of-week must be '?'")
    return text


def is_time_zone(name: str) -> bool:
    """Say whether the IANA database has a time zone; it must be on this machine."""
    return name in _time_zones()


@cache
def _time_zones() -> set[str]:
    return available_timezones()  # from many files
