import gzip

import pytest

from lakekit.cli.arguments import pair_runs, spread_inputs
from lakekit.cli.merge import make_batch, refuse_other_form
from lakekit.errors import InvalidStepInputError


def test_a_time_closes_the_run_of_the_inputs_before_it():
    words = spread_inputs(["--input", "a", "b", "--at", "1", "--input", "c", "--at", "2", "--json"])

    assert pair_runs(words) == [("1", ("a", "b")), ("2", ("c",))]


@pytest.mark.parametrize(
    "line", ["--input a --input b --at 1 --at 2", "--at 1 --input a --at 2 --input b"]
)
def test_as_many_times_as_inputs_are_paired_one_by_one(line):
    assert pair_runs(line.split()) == [("1", ("a",)), ("2", ("b",))]


@pytest.mark.parametrize("line", ["--input a", "--at 1", "--input a --at 1 --input b --input c"])
def test_refuses_inputs_and_times_that_do_not_pair(line):
    with pytest.raises(InvalidStepInputError):
        pair_runs(line.split())


def test_the_same_files_at_the_same_time_are_the_same_run(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("{}")
    two.write_text("{}")

    first = make_batch("2026-01-01T01:00:00+01:00", [str(one)], "full")
    again = make_batch("2026-01-01T00:00:00Z", [str(two)], "full")

    assert first.run_id == again.run_id
    assert first.run_id != make_batch("2026-01-02T00:00:00Z", [str(one)], "full").run_id


@pytest.mark.parametrize(
    ("time", "message"), [("2026-01-01", "no time zone"), ("soon", "not a time")]
)
def test_refuses_times_that_are_not_a_point_in_time(time, message):
    with pytest.raises(InvalidStepInputError, match=message):
        make_batch(time, [], "full")


def test_refuses_a_missing_file():
    with pytest.raises(InvalidStepInputError, match="no such file"):
        make_batch("2026-01-01T00:00:00Z", ["/nowhere/x"], "full")


def test_refuses_a_folder_with_the_run_it_belongs_to(tmp_path):
    with pytest.raises(InvalidStepInputError) as refused:
        make_batch("2026-01-01T00:00:00Z", [str(tmp_path)], "full")

    assert str(refused.value) == f"--at 2026-01-01T00:00:00Z --input {tmp_path}: is a folder"


def test_refuses_keys_that_are_not_lines(tmp_path):
    packed = tmp_path / "keys.ndjson"
    packed.write_bytes(gzip.compress(b"{}"))

    with pytest.raises(InvalidStepInputError, match=r"--keys .*keys\.ndjson: is packed by gzip"):
        refuse_other_form("--keys", str(packed))
