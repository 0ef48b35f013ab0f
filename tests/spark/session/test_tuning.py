"""Small runs: Spark interprets their plans, and the session is as before afterwards."""

from datetime import UTC, datetime

import pytest

from lakekit.batch import Batch
from lakekit.errors import TooManyRejectedError
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.session.tuning import INTERPRETED, PLANNED_ONCE, PUBLISHED_ONCE
from tests.spark.support.people import PEOPLE, people
from tests.spark.support.seams import around, threshold, tune
from tests.tiers import long

COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.adaptive.enabled": "true"}


@pytest.fixture
def seen(spark, table, tmp_path, monkeypatch, planned_as_in_production):
    """Merge one line, and return the session's settings at planning and at publishing."""
    tune(monkeypatch, few_bytes=1 << 20)
    found = {}

    def watch(step):
        def watched(real, *arguments):
            found[step] = {name: spark.conf.get(name) for name in INTERPRETED}
            return real(*arguments)

        around(monkeypatch, step, watched)

    def merge(line='{"id": 1, "name": "Ann"}\n', size=24, contract=PEOPLE, extract="full", day=1):
        file = tmp_path / f"{day}.ndjson"
        file.write_text(line)
        time = datetime(2026, 1, day, tzinfo=UTC)
        batch = Batch(
            run_id=f"{day}", extract=extract, extraction_time=time, files=(str(file),), bytes=size
        )
        merge_scd2(spark, contract, batch, table, staging=tmp_path.as_uri())
        return found["plan"], found["publish"]

    watch("plan")
    watch("publish")
    before = {name: spark.conf.get(name) for name in INTERPRETED}
    yield merge
    assert found
    assert {name: spark.conf.get(name) for name in INTERPRETED} == before


def test_a_small_run_is_interpreted(seen):
    assert seen() == (INTERPRETED, INTERPRETED)


def test_a_small_run_that_is_refused_leaves_the_session_as_it_was(seen):
    with pytest.raises(TooManyRejectedError):
        seen('{"id": null}\n')


@pytest.mark.parametrize("size", [threshold("short_bytes") + 1, long(None)])
def test_a_batch_that_is_large_or_of_unknown_size_is_compiled(seen, size):
    planned, _ = seen(size=size)

    assert COMPILED.items() <= planned.items()


@pytest.mark.long
def test_a_table_that_is_only_appended_to_is_small_too(seen):
    planned, _ = seen(contract=people(mode="append"))

    assert planned == INTERPRETED


@pytest.mark.parametrize(
    ("extract", "size", "once"),
    [
        ("incremental", 24, True),
        ("incremental", threshold("little_bytes") + 1, False),
        ("full", 24, False),
    ],
)
def test_a_batch_for_a_large_table_is_compiled_and_planned_once_if_it_is_all_that_moves(
    seen, tuned, extract, size, once
):
    # However many rows of it change something.
    tuned(few_bytes=-1, little_rows=0)

    planned, published = seen(size=size, extract=extract)

    expected = [COMPILED | each if once else COMPILED for each in (PLANNED_ONCE, PUBLISHED_ONCE)]
    assert expected[0].items() <= planned.items()
    assert expected[1].items() <= published.items()


@pytest.mark.parametrize("most", [long(0), 1])
def test_what_few_rows_change_is_published_by_plans_made_once(seen, tuned, most):
    tuned(little_rows=most)

    _, published = seen(size=None)

    expected = COMPILED | (PUBLISHED_ONCE if most else {})
    assert expected.items() <= published.items()


@pytest.mark.long
@pytest.mark.parametrize(
    "history",
    [
        long({"mode": "append"}),
        long({"mode": "scd1", "sequence_by": "at"}),
        {"sequence_by": "at", "late_changes": "ignore"},
    ],
)
def test_a_batch_that_is_read_with_all_that_is_known_is_planned_again(seen, tuned, history):
    tuned(few_bytes=-1)
    contract = people(columns={"at": "timestamp"}, **history)
    line = '{"id": 1, "name": "Ann", "at": "2026-01-01T00:00:00Z"}\n'

    planned, _ = seen(line, contract=contract, extract="incremental")

    assert COMPILED.items() <= planned.items()


@pytest.mark.long
def test_versions_that_are_renewed_are_rows_that_move(seen, tuned):
    tuned(little_rows=0)
    contract = people(track_history_columns=["name"])
    seen(size=None, contract=contract)

    _, published = seen(
        '{"id": 1, "name": "Ann", "city": "x"}\n', size=None, contract=contract, day=2
    )

    assert COMPILED.items() <= published.items()


@pytest.mark.long
def test_deletes_that_only_the_journal_holds_are_rows_that_move(seen, tuned):
    tuned(little_rows=0)
    contract = people(sequence_by="at", apply_as_deletes="name = 'deleted'")
    line = '{"id": 1, "name": "deleted", "at": "2026-01-01T00:00:00Z"}\n'

    _, published = seen(line, size=None, contract=contract, extract="changes")

    assert COMPILED.items() <= published.items()
