"""Errors of a merge name the run of the call, and its files as they were given."""

import errno
import gzip
from pathlib import Path

import pytest
from pyspark.errors import PySparkException

from lakekit.cli.merge import naming, naming_run
from lakekit.errors import InvalidStepInputError, LateExtractError, TooManyRejectedError
from lakekit.spark.read.reasons import RejectedLine

TIME = "2026-01-01T00:00:00Z"


def test_an_error_of_a_run_names_its_time_and_its_files() -> None:
    first = [RejectedLine("/w/landing/00000-a.ndjson", 3, "{}", "id: required, but null")]
    with pytest.raises(TooManyRejectedError) as refused, naming_run(TIME, ["a.ndjson"]) as kept:
        kept["/w/landing/00000-a.ndjson"] = "a.ndjson"
        raise TooManyRejectedError("no: /w/landing/00000-a.ndjson line 3: no", first)

    assert str(refused.value) == f"--at {TIME} --input a.ndjson: no: a.ndjson line 3: no"
    assert refused.value.rejected == first


def test_of_many_files_the_first_are_named() -> None:
    with pytest.raises(LateExtractError) as refused, naming_run(TIME, list("abcde")):
        raise LateExtractError("late")

    assert str(refused.value) == f"--at {TIME} --input a b c and 2 more: late"


def test_a_broken_file_is_the_reason_of_what_spark_says(tmp_path: Path) -> None:
    file = tmp_path / "a.ndjson.gz"
    file.write_bytes(gzip.compress(b"{}")[:-5])

    with pytest.raises(InvalidStepInputError) as refused, naming("--keys k", [str(file)]):
        raise PySparkException("Job aborted.\n  at java")

    text = str(refused.value)
    assert text.startswith(f"--keys k: {file}: broken gzip: Compressed file ended")
    assert "\n" not in text


def test_what_spark_says_is_one_line() -> None:
    with pytest.raises(InvalidStepInputError) as refused, naming("run", []):
        raise PySparkException("\nJob aborted.\n  at java")

    assert str(refused.value) == "run: Job aborted."


def test_a_full_disk_is_one_line() -> None:
    with pytest.raises(InvalidStepInputError) as refused, naming("run", []):
        raise OSError(errno.ENOSPC, "No space left on device", "/w/landing/x")

    assert str(refused.value) == "run: /w/landing/x: No space left on device"
