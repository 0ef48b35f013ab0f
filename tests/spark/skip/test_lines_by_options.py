"""Known lines under the options of a contract: the result is as if all were parsed."""

from dataclasses import replace

import pytest
from pyspark.sql import Observation
from pyspark.sql import functions as F

from lakekit.spark.diff.compare import LINE_COLUMNS
from lakekit.spark.diff.metrics import current_counts
from lakekit.spark.plan import stage
from lakekit.spark.skip.lines import shown_counts
from tests.spark.support.people import ANN, BEN, CAT, PEOPLE, people
from tests.spark.support.seams import around
from tests.tiers import long

pytestmark = pytest.mark.usefixtures("every_table_is_large")
SCOPED = people(delete_scope=["city"])
TIED = people(sequence_by="at", tie_break=["city"])
LATEST = people(sequence_by="at", mode="scd1")


@pytest.mark.parametrize(
    "contract",
    [long(PEOPLE), long(SCOPED), TIED, long(LATEST)],
    ids=["all", "scopes", "sequence", "latest"],
)
def test_where_nothing_is_left_the_same_is_counted_as_where_that_is_staged(
    load, monkeypatch, contract
):
    def watched(read_changed, *asked):
        inputs.append(read_changed(*asked))
        return inputs[-1]

    def both(nothing, run, counted, lines):
        done = nothing(run, counted, lines)
        seen, read = Observation(), inputs[-1]
        shown = [*current_counts(), *shown_counts(run, F.lit(True))]
        left = read.current.observe(seen, *shown).where("_line_hash IS NULL").drop(*LINE_COLUMNS)
        staged = stage._stage(run, None, replace(read, current=left, observed=seen))
        assert done.counts == staged.counts
        assert done.rows.count() == staged.rows.count() == 0
        assert done.rows.schema.simpleString() == staged.rows.schema.simpleString()
        compared.append(done.counts.same)
        return done

    inputs, compared = [], []
    around(monkeypatch, "skip lines", watched)
    around(monkeypatch, "stage nothing", both)
    people = [{**each, "at": "2026-01-01T00:00:00Z"} for each in (ANN, BEN, CAT)]
    load(1, *people, contract=contract)

    load(2, *people, contract=contract)

    assert compared == [3]


@pytest.mark.long
def test_what_partial_records_left_is_not_shown_by_their_lines(load, rows, parsed):
    """Without a sequence, a contract may stop taking nulls for no change."""
    partial = people(ignore_null_updates=True)
    load(1, ANN, contract=partial, extract="incremental")
    load(2, {"id": 1, "city": "Rome"}, contract=partial, extract="incremental")
    load(3, {"id": 1, "city": "Rome"})

    assert parsed == [None, None, None]
    assert rows()[-1] == (1, None, "Rome", 3, None, True)


@pytest.mark.long
def test_known_lines_show_the_scopes_of_their_extract(load, rows, parsed):
    dan = {"id": 4, "name": "Dan", "city": "Oslo"}
    load(1, ANN, BEN, CAT, dan, contract=SCOPED)

    done = load(2, ANN, CAT, contract=SCOPED)

    assert parsed == [None, 0]
    # The extract has nothing of Bonn.
    assert (done.deleted, done.unchanged) == (1, 2)
    assert rows()[3] == (4, "Dan", "Oslo", 1, 2, False)


@pytest.mark.long
def test_versions_that_say_deleted_do_not_hinder_the_lines_of_others(load, rows, parsed):
    marking = people(deletes="mark")
    load(1, ANN, BEN, CAT, contract=marking)
    load(2, ANN, BEN, contract=marking)

    done = load(3, ANN, BEN, CAT, contract=marking)

    assert parsed == [None, 0, 1]
    assert (done.opened, done.unchanged) == (1, 2)
    assert rows()[-1] == (3, "Cat", "Rome", 3, None, True)


@pytest.mark.long
def test_scd1_counts_a_known_line_of_a_key_that_came_back_as_if_it_were_parsed(load, parsed):
    ann, ben = ({**each, "at": "2026-01-01T00:00:00Z"} for each in (ANN, BEN))
    load(2, ann, ben, contract=LATEST)
    load(3, ben, contract=LATEST)
    load(4, ann, ben, contract=LATEST)

    done = load(5, ann, ben, contract=LATEST)

    # Its record is older than what brought it back; see `with_presence`.
    assert parsed[3] == 1
    assert (done.unchanged, done.superseded) == (1, 1)
