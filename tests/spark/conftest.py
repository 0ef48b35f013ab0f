"""One Spark session for the whole run; a table of its own for every test."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from chispa import assert_df_equality
from pyspark.sql import DataFrame, SparkSession

from lakekit.batch import Batch, MergeResult
from lakekit.contract.contract import Contract
from lakekit.spark.iceberg.table import main_snapshot
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.preview import preview_merge
from lakekit.spark.session.session import local_session, session_settings
from lakekit.spark.session.tuning import INTERPRETED
from tests.spark.support.landed import land
from tests.spark.support.people import PEOPLE, TIMED
from tests.spark.support.phases import ann, ben
from tests.spark.support.rebuilt import NEW, World, person
from tests.spark.support.seams import around, tune
from tests.spark.support.zones import zoned  # noqa: F401  a fixture
from tests.tiers import long


def pytest_make_parametrize_id(val: Any, argname: str) -> str | None:
    """Call a test by the options of the contract that it is given."""
    if argname not in ("options", "history", "policy") or not isinstance(val, dict):
        return None
    return ", ".join(f"{name}: {value}" for name, value in val.items()) or "default"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    session = local_session(tmp_path_factory.mktemp("warehouse"))
    for name, value in INTERPRETED.items():
        session.conf.set(name, value)
    yield session
    session.stop()


@pytest.fixture(scope="module")
def planned_as_in_production(spark: SparkSession) -> Iterator[None]:
    """Compile plans, plan again between the stages, and shuffle into several partitions."""
    settings = {
        "spark.sql.codegen.wholeStage": "true",
        "spark.sql.codegen.factoryMode": "FALLBACK",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.shuffle.partitions": "2",
    }
    with session_settings(spark, settings):
        yield


@pytest.fixture(autouse=True)
def every_run_writes_a_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work as on a large table; `write/test_write.py` and the random histories do both."""
    tune(monkeypatch, few_bytes=-1)


@pytest.fixture
def tuned(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Change what counts as small: `tuned(few_bytes=-1)`; see `THRESHOLDS`."""
    return partial(tune, monkeypatch)


@pytest.fixture(params=[-1, long(1 << 20)], ids=["delta", "overwrite"])
def both_ways_of_writing(request: pytest.FixtureRequest, tuned: Callable[..., None]) -> None:
    tuned(few_bytes=request.param)


@pytest.fixture
def every_table_is_large(tuned: Callable[..., None]) -> None:
    """Skip known records and lines as in large tables; a table without rows stays small."""
    tuned(skipping_bytes=range(16, 1 << 62))


@pytest.fixture
def every_full_extract_skips_lines(every_table_is_large: None, tuned: Callable[..., None]) -> None:
    """Skip known lines, however few of them there are."""
    tuned(skipping_share=0)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """The number of lines parsed, each time that a batch is read; None for all."""
    done: list[int | None] = []

    def read(real: Callable[..., Any], *asked: Any, **options: Any) -> Any:
        sides = real(*asked, **options)
        done.append(sides.records.count() if sides.skipped else None)
        return sides

    for step in ("skip lines", "read all lines"):
        around(monkeypatch, step, read)
    return done


_numbers = count()


@pytest.fixture
def table() -> str:
    return f"lake.local.t{next(_numbers)}"


@pytest.fixture
def contract() -> Contract:
    return PEOPLE


Load = Callable[..., MergeResult]


@pytest.fixture
def load(spark: SparkSession, table: str, contract: Contract, tmp_path: Path) -> Load:
    """Merge records (or raw lines) as one run, on the given day of January 2026."""
    runs = count()

    def run(day: int, *records: Any, run_id: str = "", contract: Contract = contract, **over: Any):
        batch = Batch(
            run_id=run_id or f"run-{day}",
            extract=over.pop("extract", "full"),
            extraction_time=datetime(2026, 1, day, tzinfo=UTC),
            files=(land(tmp_path / f"run{next(runs)}.ndjson", records),),
            bytes=over.pop("size", None),
            **over.pop("known", {}),
        )
        return merge_scd2(spark, contract, batch, table, staging=(tmp_path / "s").as_uri(), **over)

    return run


@pytest.fixture
def merge_changes(load: Load) -> Load:
    """Merge changes by the times of their records, after those of the first day."""

    def merge(day: int, *records: dict[str, Any], **over: Any) -> Any:
        return load(day, *records, **{"extract": "changes", "contract": TIMED, **over})

    merge(1, ann("Oslo", 1), ben("Bonn", 1))
    return merge


@pytest.fixture
def plan(spark: SparkSession, table: str, contract: Contract, tmp_path: Path) -> Any:
    """Preview the merge of records (or raw lines); `plan.merge()` merges them."""

    def preview(
        day: int, *records: Any, contract: Contract = contract, extract: Any = "full", rows: int = 5
    ) -> Any:
        batch = Batch(
            run_id=f"run-{day}",
            extract=extract,
            extraction_time=datetime(2026, 1, day, tzinfo=UTC),
            files=(land(tmp_path / "plan.ndjson", records),),
        )
        run = (spark, contract, batch, table)
        preview.merge = partial(merge_scd2, *run, staging=(tmp_path / "p").as_uri())
        return preview_merge(*run, staging=(tmp_path / "p").as_uri(), rows=rows)

    return preview


def _versions(spark: SparkSession, table: str, columns: str) -> DataFrame:
    return spark.sql(
        f"SELECT {columns}, day(_valid_from), day(_valid_to), _is_current FROM {table} "
        "ORDER BY 1, _valid_from, 2"
    )


@pytest.fixture
def rows(spark: SparkSession, table: str) -> Callable[..., list[tuple[Any, ...]]]:
    """The whole table: keys and columns, day it is valid from and to, whether it is current."""

    def read(columns: str = "id, name, city") -> list[tuple[Any, ...]]:
        return [tuple(row) for row in _versions(spark, table, columns).collect()]

    return read


@pytest.fixture
def assert_rows(spark: SparkSession, table: str) -> Callable[..., None]:
    """Compare the whole table, as `rows` reads it, and show where it differs."""

    def compare(*expected: tuple[Any, ...], columns: str = "id, name, city") -> None:
        found = _versions(spark, table, columns)
        if [tuple(row) for row in found.collect()] != [*expected]:
            wanted = spark.createDataFrame([*expected], found.schema)
            assert_df_equality(found, wanted, ignore_nullable=True, underline_cells=True)

    return compare


@pytest.fixture(scope="module")
def built(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World(spark, f"lake.local.t{next(_numbers)}", tmp_path_factory.mktemp("landing"))
    world.merge(2, person(1, "ann", 1), person(2, "ben", 1), person(3, "cid", 1))
    world.merge(9, person(1, "anna", 8), person(2, "ben", 1))
    late, tagged = person(1, "anne", 5), person(2, "ben", 11, tags={"a": 1})
    world.merge(12, late, tagged, contract=NEW, extract="incremental")
    return world


@pytest.fixture
def world(built: World) -> Iterator[World]:
    """Three runs, merged once for a module; after each test main is what it was."""
    names = (built.table, f"{built.table}_journal")
    heads = {name: main_snapshot(built.spark, name) for name in names}
    yield built
    for name, head in heads.items():
        built.damage(
            f"CALL lake.system.set_current_snapshot('{name.removeprefix('lake.')}', {head})"
        )
