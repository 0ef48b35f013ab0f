"""The model against hand-computed tables: absences from full extracts, and deletes."""

from tests.model.admission import accepted, history
from tests.model.stories import CDC, PLAIN, SEQ, changes, dele, full, incremental, rec, spans
from tests.model.terms import Options, comparable


def test_absence_deletes_only_in_full_extracts():
    a, b = {"k": 1, "v": "A"}, {"k": 2, "v": "B"}
    start = full(10, a, b)
    assert spans(history([start, full(20, b)], PLAIN)) == [("A", 10, 20)]
    assert spans(history([start, full(20, b)], PLAIN), 2) == [("B", 10, None)]
    assert spans(history([start, incremental(20, b)], PLAIN)) == [("A", 10, None)]
    assert spans(history([start, changes(20, b)], PLAIN)) == [("A", 10, None)]
    again = [start, full(20, b), full(30, a, b)]
    assert spans(history(again, PLAIN)) == [("A", 10, 20), ("A", 30, None)]


def test_full_extracts_with_a_sequence_close_and_reopen_at_their_extraction_time():
    runs = [full(10, rec(3, "A")), full(20), full(30, rec(3, "A"))]
    assert spans(history(runs[:1], SEQ)) == [("A", 3, None)]
    assert spans(history(runs[:2], SEQ)) == [("A", 3, 20)]
    assert spans(history(runs, SEQ)) == [("A", 3, 20), ("A", 30, None)]
    assert comparable(history([runs[2], runs[0], runs[1]], SEQ)) == comparable(history(runs, SEQ))
    newer = [*runs[:2], full(30, rec(25, "B"))]
    assert spans(history(newer, SEQ)) == [("A", 3, 20), ("B", 25, None)]
    late = [*runs, incremental(40, rec(15, "B"))]
    assert spans(history(late, SEQ)) == [("A", 3, 15), ("B", 15, 20), ("A", 30, None)]


def test_a_record_ahead_of_the_extraction_time_outlives_an_absence():
    runs = [incremental(10, rec(50, "A")), full(20)]
    assert spans(history(runs, SEQ)) == [("A", 50, None)]
    assert spans(history([incremental(10, rec(20, "A")), full(20)], SEQ)) == [("A", 20, None)]


def test_presence_in_a_full_extract():
    ahead = [full(20, rec(50, "A"))]
    assert spans(history(ahead, SEQ)) == [("A", 50, None)]
    current = [incremental(9, rec(8, "B")), full(10, rec(5, "A"))]
    assert spans(history(current, SEQ)) == [("A", 5, 8), ("B", 8, None)]
    latest = [full(10, rec(5, "A")), full(20), full(30, rec(6, "B"), rec(5, "A"))]
    assert spans(history(latest, SEQ)) == [("A", 5, 6), ("B", 6, 20), ("B", 30, None)]
    at_once = [full(20, rec(3, "A")), full(20)]
    assert spans(history(at_once, SEQ)) == [("A", 3, None)]


def test_deletes_ignore_drops_absence_and_delete_records():
    ignoring = Options(
        keys=("k",), sequence_by="s", deletes="ignore", apply_as_deletes=CDC.apply_as_deletes
    )
    runs = [changes(10, rec(5, "A")), changes(11, dele(7)), full(20)]
    assert spans(history(runs, ignoring)) == [("A", 5, None)]
    assert spans(history(runs, CDC)) == [("A", 5, 7)]


def test_the_delete_predicate_counts_only_in_change_extracts_and_null_is_false():
    null = Options(keys=("k",), sequence_by="s", apply_as_deletes=lambda r: None)
    assert spans(history([changes(10, rec(5, "A"))], null)) == [("A", 5, None)]
    runs = [incremental(10, rec(5, "A", op="D"))]
    assert spans(history(runs, CDC)) == [("A", 5, None)]
    assert "op" not in history(runs, CDC)[0]


def test_the_ratio_guard_stops_the_run_and_nothing_of_it_counts():
    guarded = Options(keys=("k",), max_deleted_ratio=0.2)
    five = [{"k": k, "v": "A"} for k in range(5)]
    start = full(10, *five)

    def times(*runs):
        return [run.time for run in accepted(runs, guarded)]

    assert times(start, full(20, *five[1:])) == [10, 20]
    too_many = full(20, {"k": 4, "v": "B"}, *five[2:4])
    assert history([start, too_many], guarded) == history([start], guarded)
    assert times(start, full(20)) == [10]
    assert times(full(5), start) == [5, 10]
    assert all(not row["_is_current"] for row in history([start, full(20)], PLAIN))
    stopped_then_fine = [start, full(20), full(30, *five)]
    assert [r["_valid_from"] for r in history(stopped_then_fine, guarded)] == [10] * 5
