"""Known lines under the options of a contract: they tell the same as if all were parsed."""

from dataclasses import replace

import pytest
from pyspark.sql import Observation
from pyspark.sql import functions as F

from lakekit.contract.contract import load_contract
from lakekit.spark.diff.compare import SHOWN
from lakekit.spark.diff.metrics import based_counts
from lakekit.spark.diff.state import Sight
from lakekit.spark.plan import stage
from lakekit.spark.skip.lines import shown_counts
from tests.spark.people import ANN, BEN, CAT, CONTRACT, TIMED

pytestmark = pytest.mark.usefixtures("every_table_is_large")
SCOPED = load_contract(CONTRACT.replace("max_deleted", "delete_scope: [city], max_deleted"))
TIED, LATEST = (
    TIMED.model_copy(update={"history": TIMED.history.model_copy(update=options)})
    for options in ({"tie_break": ("city",)}, {"mode": "scd1"})
)
PARTIAL = CONTRACT.replace("max_deleted", "ignore_null_updates: true, max_deleted")


@pytest.mark.parametrize(
    "promise",
    [load_contract(CONTRACT), SCOPED, TIED, LATEST],
    ids=["all", "scopes", "sequence", "latest"],
)
def test_where_nothing_is_left_the_same_is_counted_as_where_that_is_staged(
    load, monkeypatch, promise
):
    def watched(*asked):
        sides.append(read_sides(*asked))
        return sides[-1]

    def both(merge, counted, known_lines):
        done = nothing(merge, counted, known_lines)
        seen, read = Observation(), sides[-1]
        base = read.base.observe(seen, *based_counts(), *shown_counts(merge, F.lit(True)))
        left = base.where("_line_hash IS NULL").drop(*SHOWN)
        staged = stage._read(merge, Sight(), None, replace(read, base=left, based=seen))
        assert done.counts.items() >= staged.counts.items()
        assert done.rows.count() == staged.rows.count() == 0
        assert done.rows.schema.simpleString() == staged.rows.schema.simpleString()
        compared.append(done.counts["same"])
        return done

    sides, compared, nothing, read_sides = [], [], stage._nothing, stage.read_sides
    monkeypatch.setattr(stage, "read_sides", watched)
    monkeypatch.setattr(stage, "_nothing", both)
    people = [{**each, "at": "2026-01-01T00:00:00Z"} for each in (ANN, BEN, CAT)]
    load(1, *people, promise=promise)

    load(2, *people, promise=promise)

    assert compared == [3]


def test_what_partial_records_left_is_not_told_by_their_lines(load, rows, parsed):
    partial = load_contract(PARTIAL)
    load(1, ANN, promise=partial)
    load(2, {"id": 1, "city": "Rome"}, promise=partial, extract="changes")
    load(3, {"id": 1, "city": "Rome"}, promise=partial)

    assert parsed == [None, None, None]
    assert rows()[-1] == (1, None, "Rome", 3, None, True)


def test_known_lines_tell_the_scopes_of_their_extract(load, rows, parsed):
    dan = {"id": 4, "name": "Dan", "city": "Oslo"}
    load(1, ANN, BEN, CAT, dan, promise=SCOPED)

    done = load(2, ANN, CAT, promise=SCOPED)

    assert parsed == [None, 0]
    # Of Bonn the extract has nothing.
    assert (done.deleted, done.unchanged) == (1, 2)
    assert rows()[3] == (4, "Dan", "Oslo", 1, 2, False)


def test_versions_that_say_deleted_do_not_hinder_the_lines_of_others(load, rows, parsed):
    marking = load_contract(CONTRACT.replace("max_deleted", "deletes: mark, max_deleted"))
    load(1, ANN, BEN, CAT, promise=marking)
    load(2, ANN, BEN, promise=marking)

    done = load(3, ANN, BEN, CAT, promise=marking)

    assert parsed == [None, 0, 1]
    assert (done.opened, done.unchanged) == (1, 2)
    assert rows()[-1] == (3, "Cat", "Rome", 3, None, True)


def test_scd1_counts_a_known_line_of_a_key_that_came_back_as_if_it_were_parsed(load, parsed):
    ann, ben = ({**each, "at": "2026-01-01T00:00:00Z"} for each in (ANN, BEN))
    load(2, ann, ben, promise=LATEST)
    load(3, ben, promise=LATEST)
    load(4, ann, ben, promise=LATEST)

    done = load(5, ann, ben, promise=LATEST)

    # Its record is older than what brought it back; see `with_presence`.
    assert parsed[3] == 1
    assert (done.unchanged, done.superseded) == (1, 1)
