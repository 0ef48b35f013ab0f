"""Physical plans as Spark shows them, and the files that Iceberg lists."""

import re
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession


def scans(plan: str, table: str) -> list[set[str]]:
    """Return the columns of each scan of a table."""
    found = re.findall(rf"BatchScan {re.escape(table)}\[([^\]]*)\]", plan)
    return [{column.partition("#")[0].strip() for column in each.split(",")} for each in found]


def up_to_the_join(plan: str, table: str) -> Iterator[str]:
    """Yield the operators above the scan of a table, up to the first join."""
    return up_to("Join", plan, table)


def up_to(last: str, plan: str, table: str) -> Iterator[str]:
    """Yield the operators above the scan of a table, up to the first of a kind."""
    lines = plan.splitlines()
    (start,) = (n for n, line in enumerate(lines) if f"BatchScan {table}[" in line)
    depth = _depth(lines[start])
    for line in reversed(lines[:start]):
        if _depth(line) < depth:
            depth = _depth(line)
            yield line
            if last in line:
                return
    raise AssertionError(f"no {last} above the scan in {plan}")


def _depth(line: str) -> int:
    found = re.search(r"[A-Za-z]", re.sub(r"\(\d+\)", lambda m: " " * len(m.group()), line))
    return found.start() if found else len(line)


def assert_only_the_change_set_moves(plan: str, table: str) -> None:
    """Check that a MERGE neither shuffles nor sorts its target before the join."""
    way = list(up_to_the_join(plan, table))
    assert "BroadcastHashJoin" in way[-1]
    assert not [line for line in way if "Exchange" in line or "Sort" in line]


def files(spark: SparkSession, listing: str) -> list[Path]:
    """Return the files that a table of metadata lists."""
    rows = spark.sql(f"SELECT file_path FROM {listing}").collect()
    return [Path(row["file_path"].removeprefix("file:")) for row in rows]
