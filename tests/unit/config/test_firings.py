"""When a schedule was to fire last, by EventBridge Scheduler's own rules."""

from datetime import UTC, datetime

import pytest

from lakekit.config.firings import previous_firing
from lakekit.config.schedule import Schedule

# A Thursday.
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "fired"),
    [
        ("rate(1 hour)", "2026-01-01T11:00"),
        ("rate(2 days)", "2025-12-30T12:00"),
        ("cron(0 12 * * ? *)", "2026-01-01T12:00"),
        ("cron(1 12 * * ? *)", "2025-12-31T12:01"),
        ("cron(0/15 6-11 * * ? *)", "2026-01-01T11:45"),
        ("cron(5/20 * * * ? *)", "2026-01-01T11:45"),
        ("cron(0 6,18 * * ? *)", "2026-01-01T06:00"),
        ("cron(0 20-2/3 * * ? *)", "2026-01-01T02:00"),
        ("cron(0 6 ? * MON-FRI *)", "2026-01-01T06:00"),
        ("cron(0 6 ? * SAT-MON *)", "2025-12-29T06:00"),
        ("cron(0 6 ? * 2 *)", "2025-12-29T06:00"),
        ("cron(0 6 ? * sun *)", "2025-12-28T06:00"),
        ("cron(0 6 ? * 6L *)", "2025-12-26T06:00"),
        ("cron(0 6 ? * L *)", "2025-12-27T06:00"),
        ("cron(0 6 ? * 6#3 *)", "2025-12-19T06:00"),
        ("cron(0 6 L * ? *)", "2025-12-31T06:00"),
        ("cron(0 6 LW NOV ? *)", "2025-11-28T06:00"),
        ("cron(0 6 1W NOV ? *)", "2025-11-03T06:00"),
        ("cron(0 6 15W NOV ? *)", "2025-11-14T06:00"),
        ("cron(0 6 29 2 ? *)", "2024-02-29T06:00"),
        ("cron(0 6 1 1 ? 2020)", "2020-01-01T06:00"),
    ],
)
def test_finds_the_last_firing(expression: str, fired: str) -> None:
    found = previous_firing(Schedule(expression=expression), NOON)

    assert found is not None
    assert found.isoformat(timespec="minutes") == f"{fired}+00:00"


@pytest.mark.parametrize("expression", ["cron(0 6 1 1 ? 2040)", "cron(0 6 30 2 ? *)"])
def test_what_never_fires_has_no_last_firing(expression: str) -> None:
    assert previous_firing(Schedule(expression=expression), NOON) is None


def test_a_cron_fires_by_the_clocks_of_its_zone() -> None:
    schedule = Schedule(expression="cron(30 6 * * ? *)", time_zone="America/New_York")
    summer = datetime(2026, 7, 1, 10, 29, tzinfo=UTC)

    assert previous_firing(schedule, NOON) == datetime(2026, 1, 1, 11, 30, tzinfo=UTC)
    assert previous_firing(schedule, summer) == datetime(2026, 6, 30, 10, 30, tzinfo=UTC)
