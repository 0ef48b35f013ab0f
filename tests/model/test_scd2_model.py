"""The model against hand-computed tables: records in any order and in any run."""

import pytest

from tests.model.admission import history
from tests.model.stories import CDC, PLAIN, SEQ, changes, dele, full, incremental, rec, spans
from tests.model.terms import comparable

# The examples of the specification and what follows from its sentences, computed by hand.


def test_late_record_splits_its_interval_and_a_reasserted_value_is_kept():
    known = [incremental(30, rec(5, "A")), incremental(31, rec(15, "A"), rec(20, "C"))]
    assert spans(history(known, SEQ)) == [("A", 5, 20), ("C", 20, None)]
    late = [*known, incremental(32, rec(12, "B"))]
    assert spans(history(late, SEQ)) == [
        ("A", 5, 12),
        ("B", 12, 15),
        ("A", 15, 20),
        ("C", 20, None),
    ]


def test_late_delete_closes_its_interval_until_the_next_assertion():
    runs = [changes(30, rec(5, "A"), rec(15, "A"), rec(20, "C")), changes(31, dele(12))]
    assert spans(history(runs, CDC)) == [("A", 5, 12), ("A", 15, 20), ("C", 20, None)]


def test_late_record_before_the_first_and_after_the_last_delete():
    runs = [
        changes(30, rec(10, "B"), dele(20)),
        changes(31, rec(5, "A")),
        changes(32, rec(25, "C")),
    ]
    assert spans(history(runs, CDC)) == [("A", 5, 10), ("B", 10, 20), ("C", 25, None)]


def test_late_record_equal_to_its_successor_moves_the_start():
    runs = [incremental(30, rec(10, "A")), incremental(31, rec(5, "A"))]
    assert spans(history(runs, SEQ)) == [("A", 5, None)]


@pytest.mark.parametrize("cut", [1, 2])
def test_delete_before_its_insert_holds(cut):
    records = [dele(8), rec(5, "A")]
    runs = (
        [changes(30, *records)] if cut == 1 else [changes(30 + i, r) for i, r in enumerate(records)]
    )
    assert spans(history(runs, CDC)) == [("A", 5, 8)]
    assert history([changes(30, dele(8))], CDC) == []


def test_only_deletes_and_repeated_deletes():
    runs = [changes(30, dele(3), rec(5, "A"), dele(8)), changes(31, dele(9), dele(12))]
    assert spans(history(runs, CDC)) == [("A", 5, 8)]
    assert spans(history([*runs, changes(32, dele(6))], CDC)) == [("A", 5, 6)]


def test_reappearing_key_opens_after_a_gap_and_equal_content_opens_one():
    runs = [changes(30, rec(5, "A")), changes(31, dele(8)), changes(32, rec(10, "A"))]
    assert spans(history(runs, CDC)) == [("A", 5, 8), ("A", 10, None)]


def test_duplicates_and_several_versions_in_one_run_out_of_order():
    run = incremental(30, rec(9, "C"), rec(5, "A"), rec(9, "C"), rec(7, "B"), rec(8, "B"))
    expected = [("A", 5, 7), ("B", 7, 9), ("C", 9, None)]
    assert spans(history([run], SEQ)) == expected
    assert comparable(history([run, run], SEQ)) == comparable(history([run], SEQ))


def test_same_sequence_the_last_in_the_file_and_the_later_run_decide():
    assert spans(history([incremental(30, rec(5, "A"), rec(5, "B"))], SEQ)) == [("B", 5, None)]
    later, earlier = incremental(31, rec(5, "B")), incremental(30, rec(5, "A"))
    assert spans(history([later, earlier], SEQ)) == [("B", 5, None)]
    at_once = [changes(30, rec(5, "A"), rec(9, "A"), dele(9))]
    assert spans(history(at_once, CDC)) == [("A", 5, 9)]
    back = [changes(30, rec(5, "A"), dele(9), rec(9, "A"))]
    assert spans(history(back, CDC)) == [("A", 5, None)]


def test_without_sequence_the_extraction_time_counts_and_the_last_in_the_file_wins():
    r = {"k": 1, "v": "A"}
    runs = [full(10, {"k": 1, "v": "Z"}, r), full(20, r), full(30, {"k": 1, "v": "B"})]
    assert spans(history(runs, PLAIN)) == [("A", 10, 30), ("B", 30, None)]


def test_without_sequence_a_run_older_than_a_merged_one_changes_nothing():
    a, b = {"k": 1, "v": "A"}, {"k": 1, "v": "B"}
    assert spans(history([full(20, a), full(10, b)], PLAIN)) == [("A", 20, None)]
    assert spans(history([full(20, a), full(10, b), full(30, b)], PLAIN))[1:] == [("B", 30, None)]
