import re

import pytest

from lakekit.config.schedule import Schedule, check_expression
from lakekit.config.source import Source, load_source
from lakekit.errors import InvalidContractError

TEXT = "source: s\nbase_url: https://a.org\nschedule:"


def schedule_of(text: str) -> Schedule | None:
    return load_source(f"{TEXT} {text}").schedule


def test_a_schedule_may_be_an_expression_alone() -> None:
    assert schedule_of("rate(1 hour)") == Schedule(expression="rate(1 hour)", time_zone="UTC")


def test_a_schedule_may_have_a_time_zone_and_a_window() -> None:
    given = "\n  expression: cron(0 6 ? * MON-FRI *)\n  time_zone: Europe/London\n"

    assert schedule_of(f"{given}  flexible_minutes: 15") == Schedule(
        expression="cron(0 6 ? * MON-FRI *)", time_zone="Europe/London", flexible_minutes=15
    )


def test_a_source_is_read_again_from_what_it_was_written_as() -> None:
    source = load_source(f"{TEXT} rate(1 hour)")

    assert Source.model_validate(source.model_dump(mode="json")) == source


@pytest.mark.parametrize(
    "text",
    [
        "rate(1 minute)", "rate(15 minutes)", "cron(0 6 * * ? *)", "cron(0/15 6-20 ? * MON-FRI *)",
        "cron(*/5 * * * ? *)", "cron(0 18 L * ? *)", "cron(0 8 LW JAN,JUL ? *)",
        "cron(0 8 15W * ? 2027-2030)", "cron(0 10 ? * 6#3 *)", "cron(0 10 ? * FRIL *)",
        "cron(30 22-4 ? * fri-mon *)",
    ],
)  # fmt: skip
def test_accepts_what_the_scheduler_does(text: str) -> None:
    assert check_expression(text) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("daily", "must be 'rate"),
        ("rate(1 hours)", "must be 'rate"),
        ("rate(0 minutes)", "must be 'rate"),
        ("rate(2 hour)", "must be 'rate"),
        ("rate(1 hour)\n", "must be 'rate"),
        ("cron(0 6 * * *)", "with six fields"),
        ("cron(0 6 * * * *)", "exactly one"),
        ("cron(0 6 ? * ? *)", "exactly one"),
        ("cron(60 6 * * ? *)", "'60' cannot be the minutes: 0 to 59"),
        ("cron(0 24 * * ? *)", "'24' cannot be the hours"),
        ("cron(0 6 32 * ? *)", "'32' cannot be the day-of-month"),
        ("cron(0 6 * 13 ? *)", "'13' cannot be the month"),
        ("cron(0 6 ? * 8 *)", "'8' cannot be the day-of-week"),
        ("cron(0 6 ? * MO *)", "'MO' cannot be the day-of-week"),
        ("cron(0 6 * * ? 1969)", "'1969' cannot be the year"),
        ("cron(0 6 ?,1 * ? *)", "cannot be the day-of-month"),
        ("cron(0 6 1, * ? *)", "cannot be the day-of-month"),
        ("cron(? 6 * * ? *)", "cannot be the minutes"),
        ("cron(0/0 6 * * ? *)", "cannot be the minutes"),
        ("cron(٣ 6 * * ? *)", "cannot be the minutes"),
    ],
)
def test_refuses_what_the_scheduler_would(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        check_expression(text)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (" daily", "schedule: must be 'rate(1 hour)'"),
        ("\n  expression: daily", "schedule.expression: must be 'rate(1 hour)'"),
        ("\n  time_zone: UTC", "schedule.expression: Field required"),
        (
            "\n  expression: rate(1 day)\n  flexible_minutes: 1441",
            "schedule.flexible_minutes: Input should be less than or equal to 1440",
        ),
        (
            "\n  expression: rate(1 day)\n  time_zone: 'Europe/ London'",
            "schedule.time_zone: String should match",
        ),
        ("\n  expression: rate(1 day)\n  timezone: UTC", "did you mean 'time_zone'?"),
        (" 5", "schedule: Input should be"),
    ],
)
def test_says_where_a_schedule_is_wrong(given: str, fault: str) -> None:
    with pytest.raises(InvalidContractError) as caught:
        load_source(f"{TEXT}{given}")

    assert fault in str(caught.value)
