"""Published bugs of a merge of full extracts: the story of each, and the right table.

The name in brackets says where the bug was reported or found.
"""

from typing import Any

import pytest

from tests.spark.support.people import PEOPLE
from tests.spark.support.stories import Story, at, ids, merge_stories, sequenced


def says(name: str | None, city: str | None = None) -> dict[str, Any]:
    return {"name": name, "city": city}


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


@pytest.fixture(scope="module")
def full(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stories")
    return merge_stories(spark, folder, FULL, PEOPLE, "full", 1)


@pytest.fixture(scope="module")
def stamped(spark, tmp_path_factory):
    stamps = sequenced(track_history_columns=["name", "city"])
    folder = tmp_path_factory.mktemp("stories")
    return merge_stories(spark, folder, STAMPED, stamps, "full", 2)


@pytest.mark.parametrize("story", FULL, ids=ids)
def test_full_extracts(full, story):
    assert full[story.name] == story.versions


@pytest.mark.parametrize("story", STAMPED, ids=ids)
def test_full_extracts_with_times(stamped, story):
    assert stamped[story.name] == story.versions
