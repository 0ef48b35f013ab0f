"""What a month costs grows with what is loaded, and with nothing that does not run."""

from datetime import UTC, datetime
from typing import Any

import pytest

from lakekit.config import prices
from lakekit.config.environment import Environment
from lakekit.config.source import Source
from lakekit.operate.cost import Estimate, SourceCost, estimate_month

BEGIN = datetime(2026, 6, 1, tzinfo=UTC)
SHOP = Source(source="shop", base_url="https://example.org")


def environment(**fields: Any) -> Environment:
    return Environment(
        environment="dev", account="1" * 12, region="eu-west-1", **fields
    )  # fmt: skip


def estimate(
    where: Environment | None = None, *, source: Source = SHOP, megabytes: float = 10, **loads: int
) -> Estimate:
    tables, sizes = {"shop": ["orders", "customers"]}, {"shop": megabytes}
    return estimate_month(where or environment(), [source], tables, sizes, BEGIN, loads=loads)


def shop(**given: Any) -> SourceCost:
    (found,) = estimate(**given).sources
    return found


@pytest.mark.parametrize(
    ("expression", "loads"),
    [
        ("rate(1 hour)", 30 * 24),
        ("cron(0 6 * * ? *)", 30),
        ("cron(0/15 6-20 ? * MON-FRI *)", 22 * 15 * 4),
    ],
)
def test_counts_the_firings_of_thirty_days(expression: str, loads: int) -> None:
    assert shop(source=SHOP.model_copy(update={"schedule": scheduled(expression)})).loads == loads


def test_what_fires_in_a_pause_does_not_start() -> None:
    pause = {"begins": "cron(0 20 * * ? *)", "ends": "cron(0 6 * * ? *)"}
    source = SHOP.model_copy(update={"schedule": scheduled("cron(0 * * * ? *)")})

    assert shop(where=environment(pause=pause), source=source).loads == 30 * 14


def test_nothing_is_loaded_while_the_schedules_are_off() -> None:
    source = SHOP.model_copy(update={"schedule": scheduled("rate(1 hour)")})

    found = shop(where=environment(schedules=False), source=source)

    assert (found.loads, found.glue, found.functions, found.states) == (0, 0, 0, 0)


def test_a_merge_of_one_worker_and_the_driver_takes_its_start_and_its_bytes() -> None:
    # 90 s, and 100 MB on two workers in half a minute; two tables' maintenance every tenth time.
    seconds = (90 + 30) * 2 + 180 * 2 * 2 / 10

    assert shop(megabytes=100, shop=1).glue == pytest.approx(seconds / 3600 * 0.44)


def test_more_bytes_take_more_workers_up_to_the_most() -> None:
    few, many = (shop(megabytes=size, shop=1).glue for size in (500, 5000))

    assert many > 2 * few


def test_flex_is_cheaper() -> None:
    usual, flex = (shop(where=environment(jobs={"flex": each}), shop=30) for each in (False, True))

    assert flex.glue / usual.glue == pytest.approx(0.29 / 0.44)


def test_landings_grow_cheaper_with_age() -> None:
    ages = {"raw_infrequent_days": 30, "raw_archive_days": 90}
    aged = estimate(environment(storage=ages), megabytes=1000, shop=30)

    assert aged.landings_in_a_year == pytest.approx(
        30 * (prices.S3_STANDARD + 2 * prices.S3_INFREQUENT + 9 * prices.S3_ARCHIVE)
    )


def test_landings_that_expire_cost_nothing_more() -> None:
    kept = estimate(environment(storage={"raw_days": 30}), megabytes=1000, shop=30)

    assert kept.landings_in_a_year == pytest.approx(30 * prices.S3_STANDARD)


def test_the_total_is_the_sum() -> None:
    found = estimate(shop=30)

    (one,) = found.sources
    assert one.total == pytest.approx(one.glue + one.functions + one.states + one.storage)
    assert found.total == pytest.approx(found.fixed + one.total)


def test_metrics_of_tables_are_paid_for_each_table() -> None:
    usual, measured = (estimate(environment(table_metrics=each)) for each in (False, True))

    assert measured.fixed - usual.fixed == pytest.approx(2 * 13 * prices.METRIC)


def scheduled(expression: str) -> Any:
    return Source.model_validate({**SHOP.model_dump(), "schedule": expression}).schedule


def test_a_network_costs_also_without_a_run_and_more_in_production() -> None:
    def fixed(**fields: Any) -> float:
        return estimate(environment(**fields)).fixed - estimate().fixed

    given = {
        "vpc_id": "vpc-0123456789abcdef0",
        "subnets": {f"eu-west-1{zone}": f"subnet-0123456789abcdef{zone}" for zone in "ab"},
    }
    assert fixed(network="vpc") == pytest.approx(153.3)
    assert fixed(network={"zones": 3}, production=True) == pytest.approx(284.7)
    assert fixed(network=given) == 0


def test_a_stream_costs_also_without_a_record() -> None:
    streamed = environment(streams=({"source": "shop", "contract": "orders"},))

    more = estimate(streamed).fixed - estimate().fixed

    assert more == pytest.approx(730 * prices.STREAM_HOUR + 3 * prices.ALARM)
