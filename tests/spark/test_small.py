"""What runs for few rows: Spark interprets its plans, and the session is as before afterwards."""

from datetime import UTC, datetime

import pytest

from lakekit.batch import Batch
from lakekit.errors import TooManyRejectedError
from lakekit.spark import scd2, small
from lakekit.spark.scd2 import merge_scd2

COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.adaptive.enabled": "true"}


@pytest.fixture
def seen(spark, table, contract, tmp_path, monkeypatch, planned_as_in_production):
    """Merge one line, and return what the session was told when the run was planned."""
    monkeypatch.setattr(small, "FEW_BYTES", 1 << 20)
    found, real = {}, scd2.plan_run

    def plan_run(*arguments):
        found.update({name: spark.conf.get(name) for name in small.INTERPRETED})
        return real(*arguments)

    def merge(line='{"id": 1, "name": "Ann"}\n', size=24, promise=contract):
        file = tmp_path / "x.ndjson"
        file.write_text(line)
        time = datetime(2026, 1, 1, tzinfo=UTC)
        batch = Batch(
            run_id="a", extract="full", extraction_time=time, files=(str(file),), bytes=size
        )
        merge_scd2(spark, promise, batch, table, staging=tmp_path.as_uri())
        return found

    monkeypatch.setattr(scd2, "plan_run", plan_run)
    before = {name: spark.conf.get(name) for name in small.INTERPRETED}
    yield merge
    assert found
    assert {name: spark.conf.get(name) for name in small.INTERPRETED} == before


def test_a_small_run_is_interpreted(seen):
    assert seen() == small.INTERPRETED


def test_a_small_run_that_is_refused_leaves_the_session_as_it_was(seen):
    with pytest.raises(TooManyRejectedError):
        seen('{"id": null}\n')


@pytest.mark.parametrize("size", [small.SHORT + 1, None])
def test_a_batch_that_is_large_or_of_unknown_size_is_compiled(seen, size):
    assert COMPILED.items() <= seen(size=size).items()


def test_a_table_that_is_only_appended_to_is_small_too(seen, contract):
    mode = contract.history.model_copy(update={"mode": "append", "sequence_by": None})

    assert seen(promise=contract.model_copy(update={"history": mode})) == small.INTERPRETED


def test_a_batch_for_a_large_table_is_compiled(seen, monkeypatch):
    monkeypatch.setattr(small, "FEW_BYTES", -1)

    assert COMPILED.items() <= seen().items()
