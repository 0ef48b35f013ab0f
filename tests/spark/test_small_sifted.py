"""What is little of a sifted full extract is planned once."""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.spark import run as context
from lakekit.spark.plan import stage
from lakekit.spark.session import tuning as small
from lakekit.spark.session.tuning import PLANNED_ONCE as ONCE
from lakekit.spark.skip import lines as sift
from tests.spark.people import CONTRACT


@pytest.fixture
def settings_of_writing(spark, monkeypatch):
    """Watch a module, and return what the session is told for each frame that it writes down."""

    def watch(module):
        told, real = [], module.write_counted

        def write_counted(*arguments):
            told.append({name: spark.conf.get(name) for name in ONCE})
            return real(*arguments)

        monkeypatch.setattr(module, "write_counted", write_counted)
        return told

    return watch


def test_versions_whose_line_is_not_known_are_left_of_a_sifted_extract(
    load, settings_of_writing, monkeypatch, planned_as_in_production, every_full_extract_is_sifted
):
    marked = load_contract(CONTRACT.replace("keys: [id]", "keys: [id], deletes: mark"))
    people = [{"id": n, "name": "Ann"} for n in range(4)]
    load(1, *people, promise=marked)
    load(2, *people[:2], promise=marked)
    monkeypatch.setattr(context, "LITTLE_ROWS", 1)
    told = settings_of_writing(stage)

    load(3, *people[:2], promise=marked)

    # Two versions that say deleted.
    assert told
    assert ONCE not in told


@pytest.mark.usefixtures("planned_as_in_production", "every_full_extract_is_sifted")
@pytest.mark.parametrize("most", [1, 2])
def test_what_is_left_of_a_sifted_extract_is_staged_by_plans_made_once_if_it_is_little(
    load, rows, settings_of_writing, monkeypatch, most
):
    load(1, {"id": 1, "name": "Ann"}, {"id": 2, "name": "Ben"})
    monkeypatch.setattr(context, "LITTLE_ROWS", most)
    told = settings_of_writing(stage)

    # A line that is not known, and a version that no line shows.
    load(2, {"id": 1, "name": "Ann"}, {"id": 2, "name": "Eve"})

    assert [settings == ONCE for settings in told] == [most == 2]
    assert rows("id, name")[-2:] == [(2, "Ben", 1, 2, False), (2, "Eve", 2, None, True)]


@pytest.mark.usefixtures("planned_as_in_production", "every_full_extract_is_sifted")
@pytest.mark.parametrize(
    ("case", "once"),
    [
        # A name, bytes of the batch, lists.
        (("Eve", 100, 1), True),
        (("Eve", None, 1), False),
        # Half of the lines are not known, and shuffled.
        (("Eve", 3 * small.LITTLE_BYTES, 1), False),
        (("Ben", 3 * small.LITTLE_BYTES, 1), True),
        (("Ben", 100, small.LITTLE_BYTES), False),
    ],
)
def test_known_lines_are_told_by_a_plan_made_once_if_that_shuffles_little(
    load, settings_of_writing, monkeypatch, case, once
):
    name, size, lists = case
    load(1, {"id": 1, "name": "Ann"}, {"id": 2, "name": "Ben"})
    told = settings_of_writing(sift)
    monkeypatch.setattr(sift, "number_of_lists", lambda _: lists)

    load(2, {"id": 1, "name": "Ann"}, {"id": 2, "name": name}, size=size)

    assert [settings == ONCE for settings in told] == [once]
