"""What an answer says of how long to wait: `Retry-After`, and the headers of rate limits."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# A later time makes no difference.
LONGEST_SECONDS = 10 * 365 * 24 * 3600.0
# A reset above these is a time since 1970, in seconds or in milliseconds; below, a duration.
_SINCE_1970, _IN_MILLISECONDS = 1e9, 1e12
_NUMBER = re.compile(r"[0-9]{1,18}(\.[0-9]{0,18})?")
_REMAINING = ("RateLimit-Remaining", "X-RateLimit-Remaining", "X-Rate-Limit-Remaining")
_RESET = ("RateLimit-Reset", "X-RateLimit-Reset", "X-Rate-Limit-Reset")

Now = Callable[[], datetime]


def retry_after(headers: Mapping[str, str], now: Now) -> float | None:
    """Return after how many seconds `Retry-After` wants the next request, or None.

    It may be a number, also with a fraction, or a date. A date counts from the source's own clock,
    which `Date` shows, and from ours without it.
    """
    text = headers.get("Retry-After", "").strip()
    if _NUMBER.fullmatch(text):
        return _bounded(float(text))
    return _until(_http_date(text), headers, now)


def limit_reset(headers: Mapping[str, str], now: Now) -> float | None:
    """Return after how many seconds a limit that is used up is new again, or None.

    Understood are `RateLimit` and `RateLimit-…` of the IETF's drafts, and `X-RateLimit-…`, whose
    reset is a duration, a time since 1970 or a date.
    """
    waits = [_reset(text, headers, now) for text in _used_up(headers)]
    return max((wait for wait in waits if wait is not None), default=None)


def _used_up(headers: Mapping[str, str]) -> list[str]:
    """Return the resets of the limits of which nothing remains."""
    found = []
    for remaining, reset in zip(_REMAINING, _RESET, strict=True):
        if _is_zero(headers.get(remaining, "")):
            found.append(headers.get(reset, ""))
    for policy in headers.get("RateLimit", "").split(","):
        found += _of_policy(policy)
    # `limit=100, remaining=0, reset=30`, as an earlier draft had it.
    named = dict(re.findall(r"(remaining|reset)=([0-9.]+)", headers.get("RateLimit", "")))
    if _is_zero(named.get("remaining", "")):
        found.append(named.get("reset", ""))
    return found


def _of_policy(policy: str) -> list[str]:
    r"""Return the reset of `"default";r=0;t=30`."""
    named = dict(re.findall(r";\s*([rt])=([0-9.]+)", policy))
    return [named.get("t", "")] if _is_zero(named.get("r", "")) else []


def _is_zero(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text.strip())) and float(text) < 1


def _reset(text: str, headers: Mapping[str, str], now: Now) -> float | None:
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        return _until(_http_date(text) or _iso_date(text), headers, now)
    value = float(text)
    if value < _SINCE_1970:
        return _bounded(value)
    value = value / 1000 if value >= _IN_MILLISECONDS else value
    clock = _http_date(headers.get("Date", "")) or now()
    return _bounded(value - clock.timestamp())


def _until(when: datetime | None, headers: Mapping[str, str], now: Now) -> float | None:
    if when is None:
        return None
    clock = _http_date(headers.get("Date", "")) or now()
    return _bounded((when - clock).total_seconds())


def _http_date(text: str) -> datetime | None:
    try:
        return _aware(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _iso_date(text: str) -> datetime | None:
    try:
        return _aware(datetime.fromisoformat(text))
    except ValueError:
        return None


def _aware(when: datetime) -> datetime:
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_SECONDS)
