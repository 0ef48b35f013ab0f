"""What is left of a full extract with skipped lines is planned once, if it is little."""

import pytest

from lakekit.spark.session.tuning import PLANNED_ONCE as ONCE
from tests.spark.support.people import people
from tests.spark.support.seams import around, threshold
from tests.tiers import long

LITTLE = threshold("little_bytes")


@pytest.fixture
def settings_of_writing(spark, monkeypatch):
    """Watch a step, and return the settings of the session for each frame that it stages."""

    def watch(step):
        seen = []

        def write_counted(real, *arguments):
            seen.append({name: spark.conf.get(name) for name in ONCE})
            return real(*arguments)

        around(monkeypatch, step, write_counted)
        return seen

    return watch


def test_versions_whose_line_is_not_known_are_left_of_an_extract_with_skipped_lines(
    load, settings_of_writing, tuned, planned_as_in_production, every_full_extract_skips_lines
):
    marked = people(deletes="mark")
    four = [{"id": n, "name": "Ann"} for n in range(4)]
    load(1, *four, contract=marked)
    load(2, *four[:2], contract=marked)
    tuned(little_rows=1)
    seen = settings_of_writing("write staged")

    load(3, *four[:2], contract=marked)

    # Two versions that are marked deleted.
    assert seen
    assert ONCE not in seen


@pytest.mark.long
@pytest.mark.usefixtures("planned_as_in_production", "every_full_extract_skips_lines")
@pytest.mark.parametrize("most", [long(1), 2])
def test_what_skipping_leaves_of_an_extract_is_staged_by_plans_made_once_if_it_is_little(
    load, rows, settings_of_writing, tuned, most
):
    load(1, {"id": 1, "name": "Ann"}, {"id": 2, "name": "Ben"})
    tuned(little_rows=most)
    seen = settings_of_writing("write staged")

    # A line that is not known, and a version that no line shows.
    load(2, {"id": 1, "name": "Ann"}, {"id": 2, "name": "Eve"})

    assert [settings == ONCE for settings in seen] == [most == 2]
    assert rows("id, name")[-2:] == [(2, "Ben", 1, 2, False), (2, "Eve", 2, None, True)]


@pytest.mark.usefixtures("planned_as_in_production", "every_full_extract_skips_lines")
@pytest.mark.parametrize(
    ("case", "once"),
    [
        # A name, bytes of the batch, lists.
        (("Eve", 100, 1), True),
        long(("Eve", None, 1), False),
        # Half of the lines are not known, and shuffled.
        long(("Eve", 3 * LITTLE, 1), False),
        long(("Ben", 3 * LITTLE, 1), True),
        (("Ben", 100, LITTLE), False),
    ],
)
def test_known_lines_are_found_by_a_plan_made_once_if_that_shuffles_little(
    load, settings_of_writing, monkeypatch, case, once
):
    name, size, lists = case
    load(1, {"id": 1, "name": "Ann"}, {"id": 2, "name": "Ben"})
    seen = settings_of_writing("write lists")
    around(monkeypatch, "lists of digests", lambda *_: lists)

    load(2, {"id": 1, "name": "Ann"}, {"id": 2, "name": name}, size=size)

    # The lists themselves are written as ever.
    assert [settings == ONCE for settings in seen] == [False, once]
