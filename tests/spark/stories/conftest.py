"""After the stories of a module, two maintenances of each of their tables, with `--long`."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakekit.spark.maintain_tables import maintain_table
from tests.spark.support.people import people

EAGER = people(
    maintenance={"small_files_threshold": 2, "snapshots": {"max_age_days": 1, "min_to_keep": 1}}
)


@pytest.fixture(scope="module", autouse=True)
def maintained_twice(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[None]:
    """The first one changes no row, and the second one does nothing."""
    before = tables(spark)
    yield
    if request.config.getoption("long"):
        faults = {name: fault for name in tables(spark) - before if (fault := repeats(spark, name))}
        assert not faults


def repeats(spark: SparkSession, table: str) -> str:
    """Maintain a table twice, two days later, and return what is wrong with that."""
    now, held = datetime.now(UTC) + timedelta(days=2), contents(spark, table)
    first, second = (maintain_table(spark, EAGER, table, now=now) for _ in range(2))
    if second.actions:
        return f"{second.actions} after {first.actions}: {first.after}"
    return "" if contents(spark, table) == held else f"other rows after {first.actions}"


def tables(spark: SparkSession) -> set[str]:
    return {f"lake.local.{row['tableName']}" for row in spark.sql("SHOW TABLES").collect()}


def contents(spark: SparkSession, table: str) -> list[Any]:
    digest = "sum(bigint(hash(to_json(struct(*)))))"
    return spark.sql(f"SELECT count(*), {digest} FROM {table}").collect()
