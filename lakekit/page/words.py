"""Numbers, times and sizes as a person reads them at a glance."""

from datetime import datetime

_UNITS = ((86_400 * 2, 86_400, "d"), (3_600 * 2, 3_600, "h"), (60 * 2, 60, "min"), (0, 1, "s"))


def count(number: int | None) -> str:
    """Return a count.

    >>> count(41730), count(None)
    ('41,730', '—')
    """
    return "—" if number is None else f"{number:,}"


def size(number: int) -> str:
    """Return bytes.

    >>> size(0), size(2_340_000), size(999)
    ('0 B', '2.3 MB', '999 B')
    """
    value = float(number)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"


def duration(seconds: float | None) -> str:
    """Return a span of time by its largest unit that has two of it.

    >>> duration(95), duration(3 * 86_400), duration(1.4), duration(None)
    ('95 s', '3 d', '1.4 s', '—')
    """
    if seconds is None:
        return "—"
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s".replace(".0 s", " s")
    least = next(each for each in _UNITS if seconds >= each[0])
    return f"{seconds / least[1]:.0f} {least[2]}"


def ago(time: datetime | None, now: datetime) -> str:
    """Return how long ago a time was.

    >>> ago(None, datetime(2026, 1, 1))
    'never'
    """
    if time is None:
        return "never"
    seconds = (now - time).total_seconds()
    return "just now" if seconds < 10 else f"{duration(seconds)} ago"


def share(part: float | None) -> str:
    """Return a share.

    >>> share(0), share(0.00004), share(0.123), share(1), share(None)
    ('0 %', '<0.1 %', '12 %', '100 %', '—')
    """
    if part is None:
        return "—"
    if 0 < part < 0.001:
        return "<0.1 %"
    text = f"{part:.1%}" if part < 0.1 else f"{part:.0%}"
    return text.replace(".0%", "%").replace("%", " %")


def dollars(cost: float | None) -> str:
    """Return US dollars.

    >>> dollars(0.0147), dollars(12.5), dollars(None), dollars(0.000004)
    ('$0.015', '$12.50', '—', '<$0.001')
    """
    if cost is None:
        return "—"
    if 0 < cost < 0.001:
        return "<$0.001"
    return f"${cost:.2f}" if cost >= 1 or cost == 0 else f"${cost:.3f}"
