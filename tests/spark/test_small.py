"""What runs for few rows: Spark interprets its plans, and the session is as before afterwards."""

from datetime import UTC, datetime

import pytest

from lakekit.batch import Batch
from lakekit.errors import TooManyRejectedError
from lakekit.spark import merge_scd2 as scd2
from lakekit.spark import run as context
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.session import tuning as small
from lakekit.spark.session.tuning import PLANNED_ONCE as ONCE
from tests.spark.people import TIMED

COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.adaptive.enabled": "true"}


@pytest.fixture
def seen(spark, table, contract, tmp_path, monkeypatch, planned_as_in_production):
    """Merge one line, and return what the session was told when it was planned and published."""
    monkeypatch.setattr(small, "FEW_BYTES", 1 << 20)
    found = {}

    def watch(step):
        real = getattr(scd2, step)

        def watched(*arguments):
            found[step] = {name: spark.conf.get(name) for name in small.INTERPRETED}
            return real(*arguments)

        monkeypatch.setattr(scd2, step, watched)

    def merge(line='{"id": 1, "name": "Ann"}\n', size=24, promise=contract, extract="full", day=1):
        file = tmp_path / f"{day}.ndjson"
        file.write_text(line)
        time = datetime(2026, 1, day, tzinfo=UTC)
        batch = Batch(
            run_id=f"{day}", extract=extract, extraction_time=time, files=(str(file),), bytes=size
        )
        merge_scd2(spark, promise, batch, table, staging=tmp_path.as_uri())
        return found["plan_run"], found["publish"]

    watch("plan_run")
    watch("publish")
    before = {name: spark.conf.get(name) for name in small.INTERPRETED}
    yield merge
    assert found
    assert {name: spark.conf.get(name) for name in small.INTERPRETED} == before


def test_a_small_run_is_interpreted(seen):
    assert seen() == (small.INTERPRETED, small.INTERPRETED)


def test_a_small_run_that_is_refused_leaves_the_session_as_it_was(seen):
    with pytest.raises(TooManyRejectedError):
        seen('{"id": null}\n')


@pytest.mark.parametrize("size", [small.SHORT + 1, None])
def test_a_batch_that_is_large_or_of_unknown_size_is_compiled(seen, size):
    planned, _ = seen(size=size)

    assert COMPILED.items() <= planned.items()


def test_a_table_that_is_only_appended_to_is_small_too(seen, contract):
    mode = contract.history.model_copy(update={"mode": "append", "sequence_by": None})

    planned, _ = seen(promise=contract.model_copy(update={"history": mode}))

    assert planned == small.INTERPRETED


@pytest.mark.parametrize(
    ("extract", "size", "once"),
    [
        ("incremental", 24, True),
        ("incremental", small.LITTLE_BYTES + 1, False),
        ("full", 24, False),
    ],
)
def test_a_batch_for_a_large_table_is_compiled_and_planned_once_if_it_is_all_that_moves(
    seen, monkeypatch, extract, size, once
):
    monkeypatch.setattr(small, "FEW_BYTES", -1)
    # However many rows of it change something.
    monkeypatch.setattr(context, "LITTLE_ROWS", 0)

    planned, published = seen(size=size, extract=extract)

    expected = [COMPILED | each if once else COMPILED for each in (ONCE, small.PUBLISHED_ONCE)]
    assert expected[0].items() <= planned.items()
    assert expected[1].items() <= published.items()


@pytest.mark.parametrize("most", [0, 1])
def test_what_few_rows_change_is_published_by_plans_made_once(seen, monkeypatch, most):
    monkeypatch.setattr(context, "LITTLE_ROWS", most)

    _, published = seen(size=None)

    expected = COMPILED | (small.PUBLISHED_ONCE if most else {})
    assert expected.items() <= published.items()


@pytest.mark.parametrize(
    "history",
    [
        {"mode": "append"},
        {"mode": "scd1", "sequence_by": "at"},
        {"sequence_by": "at", "late_changes": "ignore"},
    ],
)
def test_a_batch_that_is_read_beside_all_that_is_known_is_planned_again(seen, monkeypatch, history):
    monkeypatch.setattr(small, "FEW_BYTES", -1)
    history = TIMED.history.model_copy(update={"sequence_by": None, **history})
    line = '{"id": 1, "name": "Ann", "at": "2026-01-01T00:00:00Z"}\n'

    planned, _ = seen(
        line, promise=TIMED.model_copy(update={"history": history}), extract="incremental"
    )

    assert COMPILED.items() <= planned.items()


def test_versions_that_are_renewed_are_rows_that_move(seen, contract, monkeypatch):
    monkeypatch.setattr(context, "LITTLE_ROWS", 0)
    history = contract.history.model_copy(update={"track_history_columns": ("name",)})
    promise = contract.model_copy(update={"history": history})
    seen(size=None, promise=promise)

    _, published = seen(
        '{"id": 1, "name": "Ann", "city": "x"}\n', size=None, promise=promise, day=2
    )

    assert COMPILED.items() <= published.items()


def test_deletes_that_only_the_companion_knows_are_rows_that_move(seen, monkeypatch):
    monkeypatch.setattr(context, "LITTLE_ROWS", 0)
    history = TIMED.history.model_copy(update={"apply_as_deletes": "name = 'gone'"})
    promise = TIMED.model_copy(update={"history": history})
    line = '{"id": 1, "name": "gone", "at": "2026-01-01T00:00:00Z"}\n'

    _, published = seen(line, size=None, promise=promise, extract="changes")

    assert COMPILED.items() <= published.items()
