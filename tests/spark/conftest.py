"""One Spark session for the whole run; a table of its own for every test."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakekit.batch import Batch, MergeResult
from lakekit.contract.contract import Contract, load_contract
from lakekit.spark.iceberg.table import main_snapshot
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.plan import stage
from lakekit.spark.preview import preview_merge
from lakekit.spark.run import Merge
from lakekit.spark.session import tuning as small
from lakekit.spark.session.session import local_session, session_settings
from lakekit.spark.skip import lines as sift
from lakekit.spark.skip import rows as known
from tests.spark.landed import land
from tests.spark.people import CONTRACT, TIMED
from tests.spark.phases import ann, ben
from tests.spark.rebuilt import NEW, World, person
from tests.spark.zones import zoned  # noqa: F401  a fixture


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    session = local_session(tmp_path_factory.mktemp("warehouse"))
    for name, value in small.INTERPRETED.items():
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
    """Work as on a large table; `test_writing.py` and the random histories do the other too."""
    monkeypatch.setattr(small, "FEW_BYTES", -1)


@pytest.fixture(params=[-1, 1 << 20], ids=["delta", "overwrite"])
def both_ways_of_writing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "FEW_BYTES", request.param)


@pytest.fixture
def every_table_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Know records and lines again as in large tables; one without rows stays small."""
    monkeypatch.setattr(known, "WORTHWHILE", range(16, 1 << 62))


@pytest.fixture
def every_full_extract_is_sifted(
    every_table_is_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leave out known lines, however few of them there are."""
    monkeypatch.setattr(sift, "ENOUGH", 0)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """How many lines were parsed, for each full reading of a batch; None if all of them."""
    done: list[int | None] = []

    def told(read: Callable[..., Any]) -> Callable[..., Any]:
        def reading(*asked: Any, **options: Any) -> Any:
            sides = read(*asked, **options)
            done.append(sides.records.count() if sides.sifted else None)
            return sides

        return reading

    for name in ("read_sides", "read_whole"):
        monkeypatch.setattr(stage, name, told(getattr(stage, name)))
    return done


_numbers = count()


@pytest.fixture
def table() -> str:
    return f"lake.local.t{next(_numbers)}"


@pytest.fixture
def contract() -> Contract:
    return load_contract(CONTRACT)


Load = Callable[..., MergeResult]


@pytest.fixture
def load(spark: SparkSession, table: str, contract: Contract, tmp_path: Path) -> Load:
    """Merge records (or raw lines) as one run, on the given day of January 2026."""
    runs = count()

    def run(day: int, *records: Any, run_id: str = "", promise: Contract = contract, **over: Any):
        batch = Batch(
            run_id=run_id or f"run-{day}",
            extract=over.pop("extract", "full"),
            extraction_time=datetime(2026, 1, day, tzinfo=UTC),
            files=(land(tmp_path / f"run{next(runs)}.ndjson", records),),
            bytes=over.pop("size", None),
            **over.pop("known", {}),
        )
        return merge_scd2(spark, promise, batch, table, staging=(tmp_path / "s").as_uri(), **over)

    return run


@pytest.fixture
def told(load: Load) -> Load:
    """Merge changes by the times of their records, after those of the first day."""

    def tell(day: int, *records: dict[str, Any], **over: Any) -> Any:
        return load(day, *records, **{"extract": "changes", "promise": TIMED, **over})

    tell(1, ann("Oslo", 1), ben("Bonn", 1))
    return tell


@pytest.fixture
def plan(spark: SparkSession, table: str, contract: Contract, tmp_path: Path) -> Any:
    """Preview the merge of records (or raw lines); `plan.merge` is that merge."""

    def preview(
        day: int, *records: Any, promise: Contract = contract, extract: Any = "full", rows: int = 5
    ) -> Any:
        batch = Batch(
            run_id=f"run-{day}",
            extract=extract,
            extraction_time=datetime(2026, 1, day, tzinfo=UTC),
            files=(land(tmp_path / "plan.ndjson", records),),
        )
        preview.merge = Merge(spark, promise, batch, table, (tmp_path / "p").as_uri())
        return preview_merge(preview.merge, rows=rows)

    return preview


@pytest.fixture
def rows(spark: SparkSession, table: str) -> Callable[..., list[tuple[Any, ...]]]:
    """The whole table: keys and columns, day it is valid from and to, whether it is current."""

    def read(columns: str = "id, name, city") -> list[tuple[Any, ...]]:
        query = (
            f"SELECT {columns}, day(_valid_from), day(_valid_to), _is_current FROM {table} "
            "ORDER BY 1, _valid_from, 2"
        )
        return [tuple(row) for row in spark.sql(query).collect()]

    return read


@pytest.fixture(scope="module")
def built(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World(spark, f"lake.local.t{next(_numbers)}", tmp_path_factory.mktemp("landing"))
    world.merge(2, person(1, "ann", 1), person(2, "ben", 1), person(3, "cid", 1))
    world.merge(9, person(1, "anna", 8), person(2, "ben", 1))
    late, tagged = person(1, "anne", 5), person(2, "ben", 11, tags={"a": 1})
    world.merge(12, late, tagged, text=NEW, extract="incremental")
    return world


@pytest.fixture
def world(built: World) -> Iterator[World]:
    """Three runs, merged once for a module; after each test main is what it was."""
    names = (built.table, f"{built.table}_facts")
    heads = {name: main_snapshot(built.spark, name) for name in names}
    yield built
    for name, head in heads.items():
        built.damage(
            f"CALL lake.system.set_current_snapshot('{name.removeprefix('lake.')}', {head})"
        )
