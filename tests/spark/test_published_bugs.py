"""Every published bug of a history table that a merge can have: its story, and the right table.

The stories of one kind of extract share a table, each with a key of its own, so that one merge
carries a step of all of them. The name in brackets says where the bug was reported or found.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, NamedTuple

import pytest

from lakekit.batch import Batch
from lakekit.contracts import Contract, load_contract
from lakekit.spark.scd2 import merge_scd2
from tests.spark.people import CONTRACT

SEQUENCED = CONTRACT.replace(
    "  - {name: city, type: string}",
    "  - {name: city, type: string}\n  - {name: op, type: string}\n  - {name: at, type: timestamp}",
).replace(
    "keys: [id]", "keys: [id], sequence_by: at, except_columns: [op], apply_as_deletes: op = 'D'"
)
Row = tuple[str | None, str | None, int, int | None]


class Story(NamedTuple):
    """What each run says of one key, and the versions after the last: name, city, from, to."""

    name: str
    runs: list[list[dict[str, Any]]]
    versions: list[Row]


def says(name: str | None, city: str | None = None) -> dict[str, Any]:
    return {"name": name, "city": city}


def at(day: int | None, name: str | None, op: str = "U") -> dict[str, Any]:
    """A record of a day of January."""
    return {"name": name, "op": op, "at": day and f"2026-01-{day:02}T00:00:00Z"}


def gone(day: int) -> dict[str, Any]:
    return at(day, None, "D")


# One full extract a day, from the first of January on.
FULL = [
    Story(
        "a_change_from_null_is_seen [mack]",
        [[says(None)], [says("a")]],
        [(None, None, 1, 2), ("a", None, 2, None)],
    ),
    Story(
        "a_change_to_null_is_seen [mack]",
        [[says("a")], [says(None)]],
        [("a", None, 1, 2), (None, None, 2, None)],
    ),
    Story(
        "a_null_that_changes_places_is_seen [laktory concat_ws]",
        [[says("a", None)], [says(None, "a")]],
        [("a", None, 1, 2), (None, "a", 2, None)],
    ),
    Story(
        "a_null_is_not_the_empty_string [dlt-saga #231]",
        [[says(None, "")], [says("", None)]],
        [(None, "", 1, 2), ("", None, 2, None)],
    ),
    Story(
        "nulls_of_closed_versions_stay_null [SQLMesh #5332]",
        [[says(None, None)], [says("a", "b")], [says("a", "c")]],
        [(None, None, 1, 2), ("a", "b", 2, 3), ("a", "c", 3, None)],
    ),
    Story(
        "separators_in_values_do_not_collide [dlt-saga #231]",
        [[says("a|", "b")], [says("a", "|b")], [says("a~", "b")], [says("a", "~b")]],
        [("a|", "b", 1, 2), ("a", "|b", 2, 3), ("a~", "b", 3, 4), ("a", "~b", 4, None)],
    ),
    Story(
        "a_key_that_comes_back_is_not_lost [dlt #1683, #1707]",
        [[says("a")], [], [says("a")]],
        [("a", None, 1, 2), ("a", None, 3, None)],
    ),
    Story(
        "a_b_a_is_three_versions [dlt #3842, laktory]",
        [[says("a")], [says("b")], [says("a")]],
        [("a", None, 1, 2), ("b", None, 2, 3), ("a", None, 3, None)],
    ),
    Story(
        "a_key_with_closed_versions_only_is_tracked_again [dbt-core #2871, mack]",
        [[says("a")], [], [says("b")], [says("c")]],
        [("a", None, 1, 2), ("b", None, 3, 4), ("c", None, 4, None)],
    ),
    Story("a_deleted_key_closes [aws-sdk-pandas #2606]", [[says("a")], []], [("a", None, 1, 2)]),
    Story(
        "a_twice_delivered_key_can_be_deleted_and_come_back "
        "[dbt-core #6215, #12821, airbyte #63359]",
        [[says("a"), says("a")], [], [says("a"), says("a")]],
        [("a", None, 1, 2), ("a", None, 3, None)],
    ),
    Story(
        "of_two_records_of_a_key_one_is_current [dlt scd2]",
        [[says("a"), says("b")], [says("b")], [says("b")], [says("b")]],
        [("b", None, 1, None)],
    ),
    Story(
        "the_run_in_the_middle_is_not_lost [dlt-saga #281]",
        [[says("a")], [says("b")], [says("c")], [says("c")]],
        [("a", None, 1, 2), ("b", None, 2, 3), ("c", None, 3, None)],
    ),
    Story(
        "the_first_version_starts_when_it_was_seen [SQLMesh 1970-01-01]",
        [[], [], [says("a")], [says("a")]],
        [("a", None, 3, None)],
    ),
]
# One change extract a day, long after all that its records tell of.
CHANGES = [
    Story(
        "a_late_change_splits_the_interval_it_falls_into [dbt-core #7138]",
        [[at(5, "a"), at(20, "c")], [at(12, "b")]],
        [("a", None, 5, 12), ("b", None, 12, 20), ("c", None, 20, None)],
    ),
    Story(
        "what_was_said_again_counts_when_a_late_change_comes [Spark #56311, #56436]",
        [[at(5, "a"), at(10, "a")], [at(15, "a"), at(20, "c")], [at(12, "b")]],
        [
            ("a", None, 5, 12),
            ("b", None, 12, 15),
            ("a", None, 15, 20),
            ("c", None, 20, None),
        ],
    ),
    Story(
        "a_late_equal_record_collapses_versions [dbt-scd2-utils]",
        [[at(5, "a"), at(10, "b")], [at(3, "a")], [at(4, "b")]],
        [("a", None, 3, 4), ("b", None, 4, 5), ("a", None, 5, 10), ("b", None, 10, None)],
    ),
    Story(
        "older_history_can_be_loaded_afterwards [dbt-core #9892, SQLMesh #3642, #5901]",
        [[at(20, "c")], [at(10, "b")], [at(5, "a")]],
        [("a", None, 5, 10), ("b", None, 10, 20), ("c", None, 20, None)],
    ),
    Story(
        "a_backfill_in_chunks_can_be_repeated [stellar-dbt-public #312]",
        [[at(10, "b"), at(20, "c")], [at(5, "a"), at(10, "b")], [at(10, "b"), at(20, "c")]],
        [("a", None, 5, 10), ("b", None, 10, 20), ("c", None, 20, None)],
    ),
    Story(
        "a_delete_before_its_insert_holds [Spark #56016]",
        [[gone(8)], [at(5, "a")]],
        [("a", None, 5, 8)],
    ),
    Story(
        "a_late_delete_closes_where_it_falls [dbt-core #7138]",
        [[at(5, "a"), at(20, "c")], [gone(12)]],
        [("a", None, 5, 12), ("c", None, 20, None)],
    ),
    Story(
        "several_versions_in_a_run_are_consecutive [dbt-core #1599, #8760, dlt]",
        [[at(9, "c"), at(5, "a"), at(7, "b")], [at(12, "e"), at(11, "d")]],
        [
            ("a", None, 5, 7),
            ("b", None, 7, 9),
            ("c", None, 9, 11),
            ("d", None, 11, 12),
            ("e", None, 12, None),
        ],
    ),
    Story(
        "of_one_moment_one_record_counts [Spark #57495]",
        [[at(5, "a"), at(5, "b")], [at(5, "c")]],
        [("c", None, 5, None)],
    ),
    Story(
        "no_version_has_no_length [Auto CDC]",
        [[at(5, "a"), gone(5)], [at(3, "b"), gone(9)]],
        [("b", None, 3, 5)],
    ),
    Story(
        "a_deleted_key_comes_back [dlt-saga, dbt hard_deletes]",
        [[at(5, "a")], [gone(8)], [at(10, "a")]],
        [("a", None, 5, 8), ("a", None, 10, None)],
    ),
    Story(
        "the_same_records_again_double_nothing [iceberg #7005, dbt-core #4661]",
        [[at(5, "a"), at(7, "b")], [at(7, "b"), at(5, "a")], [at(5, "a")]],
        [("a", None, 5, 7), ("b", None, 7, None)],
    ),
    Story(
        "a_record_without_a_time_is_not_merged [dbt, SQLMesh]",
        [[at(5, "a")], [at(None, "x")], [at(9, "b")]],
        [("a", None, 5, 9), ("b", None, 9, None)],
    ),
    Story(
        "the_first_version_starts_at_its_own_time [SQLMesh, dbt]",
        [[], [at(4, "a")]],
        [("a", None, 4, None)],
    ),
]
# One full extract a day from the second on; records carry the time of their last change.
STAMPED = [
    Story(
        "a_restored_row_with_the_old_time_is_opened_again [dbt timestamp strategy]",
        [[at(1, "a")], [], [at(1, "a")]],
        [("a", None, 1, 3), ("a", None, 4, None)],
    ),
    Story(
        "a_restored_row_is_known_from_then_on [dbt timestamp strategy]",
        [[at(1, "a")], [], [at(1, "a")], [at(5, "b")]],
        [("a", None, 1, 3), ("a", None, 4, 5), ("b", None, 5, None)],
    ),
    Story(
        "a_gap_is_not_bridged [SQLMesh by time]",
        [[at(1, "a")], [], [at(4, "b")]],
        [("a", None, 1, 3), ("b", None, 4, None)],
    ),
    Story(
        "a_new_time_alone_opens_nothing [dbt timestamp strategy]",
        [[at(1, "a")], [at(2, "a")]],
        [("a", None, 1, None)],
    ),
    Story(
        "a_change_between_two_extracts_starts_at_its_own_time [dbt run time]",
        [[at(1, "a")], [at(1, "a")], [at(1, "a")], [at(2, "b")]],
        [("a", None, 1, 2), ("b", None, 2, None)],
    ),
]
Tell = Callable[[list[Story], Contract, str, int], dict[str, list[Row]]]


@pytest.fixture(scope="module")
def tell(spark, tmp_path_factory) -> Tell:
    """Merge all stories into one table; each key goes on as its last run left it."""

    def merge(stories, contract, extract, first_day):
        folder, table = tmp_path_factory.mktemp("stories"), f"lake.local.{extract}_{first_day}"
        for number, told in enumerate(zip_longest(*(story.runs for story in stories))):
            lines = []
            for key, (story, records) in enumerate(zip(stories, told, strict=True)):
                # A story that is over: full extracts repeat its last run, changes have no more.
                over = story.runs[-1] if extract == "full" else []
                lines += [
                    json.dumps({"id": key, **r}) for r in (over if records is None else records)
                ]
            file = folder / f"{number}.ndjson"
            file.write_text("".join(f"{line}\n" for line in lines))
            batch = Batch(
                run_id=f"run-{number}",
                extract=extract,
                extraction_time=datetime(2026, 1, first_day + number, tzinfo=UTC),
                files=(str(file),),
            )
            merge_scd2(spark, contract, batch, table, staging=(folder / "s").as_uri())
        found = spark.sql(
            "SELECT id, name, city, day(_valid_from), day(_valid_to), _is_current "
            f"FROM {table} ORDER BY id, _valid_from, _valid_to"
        ).collect()
        assert all(row[5] == (row[4] is None) for row in found)
        return {
            story.name: [tuple(row)[1:5] for row in found if row["id"] == key]
            for key, story in enumerate(stories)
        }

    return merge


@pytest.fixture(scope="module")
def full(tell):
    return tell(FULL, load_contract(CONTRACT), "full", 1)


@pytest.fixture(scope="module")
def changes(tell):
    return tell(CHANGES, load_contract(SEQUENCED), "changes", 25)


@pytest.fixture(scope="module")
def stamped(tell):
    stamps = SEQUENCED.replace(
        "sequence_by: at", "sequence_by: at, track_history_columns: [name, city]"
    )
    return tell(STAMPED, load_contract(stamps), "full", 2)


def _ids(story: Story) -> str:
    return story.name.replace(" ", "-")


@pytest.mark.parametrize("story", FULL, ids=_ids)
def test_full_extracts(full, story):
    assert full[story.name] == story.versions


@pytest.mark.parametrize("story", CHANGES, ids=_ids)
def test_change_extracts(changes, story):
    assert changes[story.name] == story.versions


@pytest.mark.parametrize("story", STAMPED, ids=_ids)
def test_full_extracts_with_times(stamped, story):
    assert stamped[story.name] == story.versions
