"""Published bugs of a merge of change extracts: records that are late, repeated or deleted.

The name in brackets says where the bug was reported or found.
"""

from typing import Any

import pytest

from tests.spark.support.stories import Story, at, ids, merge_stories, sequenced


def deletion(day: int) -> dict[str, Any]:
    return at(day, None, "D")


# One change extract a day, long after the times of its records.
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
        [[deletion(8)], [at(5, "a")]],
        [("a", None, 5, 8)],
    ),
    Story(
        "a_late_delete_closes_where_it_falls [dbt-core #7138]",
        [[at(5, "a"), at(20, "c")], [deletion(12)]],
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
        "of_one_event_time_one_record_counts [Spark #57495]",
        [[at(5, "a"), at(5, "b")], [at(5, "c")]],
        [("c", None, 5, None)],
    ),
    Story(
        "no_version_has_no_length [Auto CDC]",
        [[at(5, "a"), deletion(5)], [at(3, "b"), deletion(9)]],
        [("b", None, 3, 5)],
    ),
    Story(
        "a_deleted_key_comes_back [dlt-saga, dbt hard_deletes]",
        [[at(5, "a")], [deletion(8)], [at(10, "a")]],
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


@pytest.fixture(scope="module")
def changes(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stories")
    return merge_stories(spark, folder, CHANGES, sequenced(), "changes", 25)


@pytest.mark.parametrize("story", CHANGES, ids=ids)
def test_change_extracts(changes, story):
    assert changes[story.name] == story.versions
