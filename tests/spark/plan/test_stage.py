"""A full extract whose lines are all parsed: unchanged records are dropped on reading."""

import pytest

from tests.spark.support.people import ANN, BEN, MOVED, people
from tests.spark.support.seams import around, parse_every_line


@pytest.fixture(autouse=True)
def every_line_is_parsed(monkeypatch):
    parse_every_line(monkeypatch)


@pytest.fixture
def readings(monkeypatch):
    """Whether all rows were read, for each time that a batch was read."""
    done = []

    def read(real, *seen):
        done.append(seen[-1].all_rows)
        return real(*seen)

    around(monkeypatch, "stage", read)
    return done


def test_a_batch_without_repeated_keys_is_read_once(load, assert_rows, readings):
    load(1, ANN, BEN)
    load(2, {**ANN, "city": "Rome"}, BEN)

    assert readings == [False, False]
    assert_rows(*MOVED)


def test_a_key_that_comes_twice_lets_the_batch_be_read_again(load, assert_rows, readings):
    load(1, ANN, BEN)
    load(2, ANN, {**ANN, "city": "Rome"}, BEN)

    assert readings == [False, False, True]
    assert_rows(*MOVED)


def test_a_rejected_record_of_an_unchanged_key_is_quarantined(load):
    priced = people(columns={"city": "decimal(4,2)"})
    load(1, {"id": 1, "city": 1}, {"id": 2, "city": 2}, contract=priced)

    done = load(2, {"id": 1, "city": 1}, {"id": 2, "city": 2.001}, contract=priced)

    assert (done.unchanged, done.quarantined, done.committed) == (1, 1, False)
