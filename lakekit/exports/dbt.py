"""`sources.yml` of dbt: the tables of an environment with descriptions, tests and freshness.

It is for dbt 1.10 and later, which have `freshness` and `loaded_at_field` under `config`.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml

from lakekit.config.environment import Environment
from lakekit.config.firings import previous_firing
from lakekit.config.schedule import Schedule
from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.contract.sqltypes import athena_type
from lakekit.exports.columns import ReadColumn, columns_of

Json = dict[str, Any]
_CATALOG = "awsdatacatalog"
# Firings that are looked at for the longest time between two: those of two weeks, or some.
_FIRINGS = 400
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def dbt_sources(
    environment: Environment, sources: Sequence[Source], contracts: Sequence[Contract]
) -> str:
    """Return the text of a `sources.yml`.

    Args:
        environment: Whose database has the tables.
        sources: Those of the environment.
        contracts: Of any sources; those of others are left out.
    """
    found = [
        _source(environment, source, own)
        for source in sources
        if (own := [each for each in contracts if each.source == source.source])
    ]
    return dump({"version": 2, "sources": found})


def longest_gap(schedule: Schedule, now: datetime) -> timedelta | None:
    """Return the longest time between two firings of late, None if there were not two.

    Example:
        >>> longest_gap(Schedule(expression="rate(6 hours)"), datetime(2026, 1, 1, tzinfo=UTC))
        datetime.timedelta(seconds=21600)
    """
    longest, later = None, previous_firing(schedule, now)
    for _ in range(_FIRINGS):
        before = previous_firing(schedule, later - timedelta(minutes=1)) if later else None
        if later is None or before is None:
            return longest
        if schedule.expression.startswith("rate("):
            return now - later
        longest = max(longest or timedelta(0), later - before)
        if now - before > timedelta(days=14) and longest:
            return longest
        later = before
    return longest


def dump(document: Any) -> str:
    """Return YAML for people: in the order of its fields, without line breaks in texts."""
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000)


def _source(environment: Environment, source: Source, contracts: Sequence[Contract]) -> Json:
    return {
        "name": source.source,
        **({"description": source.description} if source.description else {}),
        "database": _CATALOG,
        "schema": environment.database,
        "loader": "lakekit",
        "config": _freshness(source.schedule),
        "tables": [_table(each) for each in contracts],
    }


def _freshness(schedule: Schedule | None) -> Json:
    """Return when dbt warns: no row came for twice the longest time between two loads."""
    gap = longest_gap(schedule, datetime.now(UTC)) if schedule else None
    if gap is None:
        return {"freshness": None}
    seconds = int(2 * gap.total_seconds())
    period, size = next((unit, size) for unit, size in _UNITS if seconds % size == 0 or size == 60)
    rule = {"warn_after": {"count": -(-seconds // size), "period": period}}
    return {"loaded_at_field": "_ingested_at", "freshness": rule}


def _table(contract: Contract) -> Json:
    tests = _key_tests(contract)
    return {
        "name": contract.contract,
        **({"description": contract.description} if contract.description else {}),
        "config": {"meta": {
            "contract_version": contract.version, "mode": contract.history.mode,
            "keys": list(contract.keys),
        }},
        **({"data_tests": tests} if tests else {}),
        "columns": [_column(contract, each) for each in columns_of(contract)],
    }  # fmt: skip


def _column(contract: Contract, column: ReadColumn) -> Json:
    tests: list[Any] = ["not_null"] if column.never_null else []
    if contract.keys == (column.name,) and contract.history.mode != "append":
        tests.append(_among_current("unique"))
    return {
        "name": column.name,
        **({"description": column.description} if column.description else {}),
        "data_type": athena_type(column.type),
        **({"data_tests": tests} if tests else {}),
    }


def _key_tests(contract: Contract) -> list[Json]:
    """Return the test of a key of several columns; dbt's own test takes an expression."""
    if len(contract.keys) < 2 or contract.history.mode == "append":
        return []
    columns = ", ".join(f'"{key}"' for key in contract.keys)
    return [_among_current("unique", column_name=f"({columns})")]


def _among_current(test: str, **arguments: str) -> Json:
    """Return a test that holds among current rows; a history has a key once per version."""
    return {test: {**arguments, "config": {"where": "_is_current"}}}
