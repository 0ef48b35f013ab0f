"""The merge against the independent model: random histories, many keys of them in each run."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle

import pytest

from lakekit.batch import Batch
from lakekit.errors import LateExtractError
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.session.session import session_settings
from lakekit.spark.session.tuning import INTERPRETED
from tests.conftest import HISTORIES
from tests.model.admission import history
from tests.model.terms import comparable
from tests.spark.support import replay as replaying
from tests.spark.support.combinations import DEFAULT, LONG
from tests.spark.support.people import PEOPLE
from tests.spark.support.random_histories import random_runs, recut, untied
from tests.spark.support.replay import Replay

pytestmark = pytest.mark.usefixtures("planned_as_in_production", "every_full_extract_skips_lines")
MOST_KEYS = 300
# Once, a merge carries so many histories.
TOGETHER = {("all_kinds", 0): 1000}
# The first is in the default suite; it has many pairs of full extracts of one time.
OF_ONE_TIME = ("keep_first", "overwrite", "partial", "mark_overwrite", "scope_tie_columns")
SHUFFLED = ("partial",)
# `make test-long` adds all others.
REBUILT = ("partial_mark", "latest")
# Runs on large tables have their plans compiled, as in production; `make test-long` does for all.
COMPILED = ("all_kinds", "partial_mark")


def pytest_generate_tests(metafunc):
    """Divide the histories among the combinations, in as few tables as possible."""
    histories = metafunc.config.getoption("histories")
    long = histories > HISTORIES
    if "seed" in metafunc.fixturenames:
        chosen = [*DEFAULT, *(LONG if long else ())]
        share = -(-histories // len(chosen))
        tables = -(-share // MOST_KEYS)
        keys = -(-share // tables)
        first = metafunc.config.getoption("seed")
        seeds = range(first, first + tables)
        cases = [(c, s, TOGETHER.get((c.name, s), keys)) for s in seeds for c in chosen]
        names = [f"{c.name}-{seed}" for c, seed, _ in cases]
        metafunc.parametrize(("combination", "seed", "keys"), cases, ids=names)
    elif "shuffled" in metafunc.fixturenames:
        # One kind only: an incremental extract does not delete what a change extract does.
        orderless = filter(_is_orderless, (*DEFAULT, *LONG))
        chosen = [replace(c, kinds=("changes",)) for c in orderless if long or c.name in SHUFFLED]
        metafunc.parametrize("shuffled", chosen, ids=lambda c: c.name)
    elif "of_one_time" in metafunc.fixturenames:
        chosen = [c for c in (*DEFAULT, *LONG) if c.name in OF_ONE_TIME[: None if long else 1]]
        # By default `diff/test_runs_of_one_time.py` has the rule.
        cases = [pytest.param(c, marks=pytest.mark.long, id=c.name) for c in chosen]
        metafunc.parametrize("of_one_time", cases)


def _is_orderless(combination):
    """Whether the table depends on the records alone, not on their order or runs."""
    options = combination.options
    return options.sequence_by and options.late_changes == "exact" and options.mode != "append"


@pytest.fixture(autouse=True)
def runs_are_small_or_large_or_move_little(monkeypatch, tuned):
    """Take turns: plans are interpreted, overwrite the table or not, or are made once."""
    every = 1 << 62
    ways = cycle([(every, every, 0), (-1, -1, every), (every, -1, 0), (-1, -1, -1)])
    real = merge_scd2

    def merge(*arguments, **options):
        few, rewritten, little = next(ways)
        tuned(few_bytes=few, rewrite_bytes=rewritten, little_bytes=little, little_rows=little)
        return real(*arguments, **options)

    monkeypatch.setattr(replaying, "merge_scd2", merge)


@pytest.fixture(autouse=True)
def plans_of_some_are_interpreted(request, spark):
    """Compile the plans of two combinations alone: that takes longer than to merge."""
    params = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    chosen = params.get("combination")
    long = request.config.getoption("histories") > HISTORIES
    if long or chosen is None or chosen.name in COMPILED:
        yield
        return
    with session_settings(spark, INTERPRETED):
        yield


@pytest.fixture
def first_seed(request):
    return request.config.getoption("seed")


@pytest.fixture
def replay(spark, tmp_path, table):
    def start(combination, suffix=""):
        return Replay(spark, combination, table + suffix, tmp_path)

    return start


def test_every_state_of_random_histories_equals_the_model(replay, combination, seed, keys):
    story = replay(combination)

    for run in random_runs(combination, seed, keys=keys):
        story.check(run)

    story.assert_sound()
    story.assert_replays()
    if combination in LONG or combination.name in REBUILT:
        story.assert_rebuilds()


def test_neither_order_nor_cutting_into_runs_shows(replay, shuffled, first_seed):
    runs = untied(random_runs(shuffled, first_seed + 7, keys=60), shuffled)
    options = shuffled.options
    others = recut(runs, first_seed + 6)
    story = replay(shuffled)

    for run in others:
        story.merge(run)

    expected = comparable(history(runs, options))
    assert comparable(history(others, options)) == expected
    assert comparable(story.rows()) == expected


def test_the_run_that_arrives_later_counts_of_runs_of_one_extraction_time(
    replay, of_one_time, first_seed
):
    story = replay(of_one_time)
    runs = random_runs(of_one_time, first_seed + 9, keys=100, runs=6)
    times = sorted(run.time for run in runs)

    for number, run in enumerate(runs):
        story.check(replace(run, time=times[number // 3]))

    story.assert_sound()


def test_without_a_sequence_only_runs_that_come_late_are_refused(replay):
    """Even if the younger one changed nothing."""
    (combination,) = (c for c in DEFAULT if c.name == "by_extraction_time")
    story = replay(combination)
    first, late, other, last = random_runs(combination, 3, keys=20)
    day = timedelta(days=1)
    echo = replace(first, kind="incremental", time=last.time + day)
    story.check(first)
    story.check(echo)

    assert not story.results[-1].committed
    for run in (late, other):
        with pytest.raises(LateExtractError):
            story.merge(run)
    story.check(replace(last, time=echo.time + day))
    with pytest.raises(LateExtractError):
        story.merge(late)
    story.assert_sound()


def test_the_time_zone_of_the_session_changes_nothing(load, spark, assert_rows):
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    try:
        load(1, {"id": 1, "name": "a"})
        load(2, {"id": 1, "name": "b"})

        assert_rows((1, "a", 1, 2, False), (1, "b", 2, None, True), columns="id, name")
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_extraction_times_keep_their_microseconds(spark, table, tmp_path):
    file = tmp_path / "x.ndjson"
    file.write_text('{"id": 1}\n')
    extraction_time = datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)
    batch = Batch(run_id="a", extract="full", extraction_time=extraction_time, files=(str(file),))

    merge_scd2(spark, PEOPLE, batch, table, staging=tmp_path.as_uri())

    assert spark.table(table).first()["_valid_from"] == extraction_time.replace(tzinfo=None)
