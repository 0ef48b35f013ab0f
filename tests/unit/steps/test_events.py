import re
from datetime import UTC, datetime
from typing import Any

import pytest

from lakekit.errors import InvalidStepInputError
from lakekit.steps.events import StepModel, job_arguments
from lakekit.steps.functions import (
    CompleteRun,
    ExtractPagesResult,
    Failure,
    RecordFailure,
    StartRun,
)
from lakekit.steps.jobs import MergeScd2, RebuildTable

START: dict[str, Any] = {
    "run_id": "r-1", "started_at": "2026-01-01T00:00:00.123Z", "source": "s",
    "request": {"source": "s"},
}  # fmt: skip
ARGV = [
    "job.py", "--run_id", "r-1", "--source=s", "--landing_bucket", "b", "--database", "d",
    "--warehouse", "s3://lake/warehouse",
]  # fmt: skip
REBUILD = ["--table", "t", "--lease_seconds", "60"]


def test_reads_what_a_child_execution_adds_to_its_request() -> None:
    request = {"source": "s", "AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID": "arn"}

    assert StartRun.from_event(START | {"request": request}).request.started_by == "arn"


@pytest.mark.parametrize("origin", ["schedule", "file", "next", "sweep"])
def test_ignores_what_a_starter_of_a_later_release_adds_to_a_request(origin: str) -> None:
    request = {"source": "s", "origin": origin, "later": 1}

    assert StartRun.from_event(START | {"request": request}).request.origin == origin


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"run_id": "../x"}, "run_id"),
        ({"started_at": "2026-01-01T00:00:00"}, "started_at"),
        ({"request": {"source": "s", "extraction_tme": "x"}}, "request.extraction_tme"),
        ({"request": {"source": "s", "origin": "person", "x": 1}}, "request.x"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_names_the_fault_of_an_event_with_its_path(change: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidStepInputError, match=f"StartRun: {path}: "):
        StartRun.from_event(START | change)


def test_keeps_values_out_of_its_messages() -> None:
    with pytest.raises(InvalidStepInputError) as caught:
        StartRun.from_event(START | {"source": "Secret-Value"})

    assert "Secret-Value" not in str(caught.value)


def test_hands_absent_values_on_as_null_so_that_every_path_resolves() -> None:
    event = ExtractPagesResult(endpoint="e", done=True, manifest="m").to_event()

    assert event["continuation"] is None
    assert ExtractPagesResult.from_event(event).manifest == "m"


def test_takes_a_run_whose_jobs_did_not_fail_as_the_state_machine_words_it() -> None:
    event = {"run_id": "r", "source": "s", "failure": None}

    assert CompleteRun.from_event(event).failure is None


def test_takes_a_failure_as_a_catch_words_it() -> None:
    event = {"run_id": "r", "source": "s", "failure": {"Error": "States.Timeout"}}

    failure = RecordFailure.from_event(event).failure

    assert failure.to_event() == {"Error": "States.Timeout", "Cause": ""}


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        ('{"Id": "jr_1", "ErrorMessage": "it ended with signal 9"}', "it ended with signal 9"),
        ('{"errorMessage": "no", "errorType": "X"}', "no"),
        ('{"Id": "jr_1"}', '{"Id": "jr_1"}'),
        ("[1]", "[1]"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_a_failure_says_what_the_job_or_function_said(cause: str, message: str) -> None:
    assert Failure(error="X", cause=cause).message == message


def test_ignores_the_arguments_that_glue_adds() -> None:
    extra = ["--JOB_NAME", "merge", "--enable-metrics", "true", "--TempDir=s3://x"]

    assert job_arguments(MergeScd2, ARGV + extra).run_id == "r-1"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--since", "2026-01-01T00:00:00Z"], "--since: unknown option"),
        (["--key=runs/k"], "--key: unknown option; did you mean --keys?"),
        (["--form", "2026-01-01T00:00:00Z"], "--form: unknown option; did you mean --from?"),
    ],
)
def test_refuses_an_option_that_a_person_misspelled(words: list[str], hint: str) -> None:
    for place in (len(ARGV), 1):
        argv = [*ARGV, *REBUILD]
        argv[place:place] = words
        with pytest.raises(InvalidStepInputError, match=re.escape(hint)):
            job_arguments(RebuildTable, argv)


@pytest.mark.parametrize(
    "words",
    [
        ["--python-modules-installer-option", "--no-index"],
        ["--python-modules-installer-option", "--upgrade"],
        ["--conf", "spark.a=b --conf spark.c=d"],
        ["--job-bookmark-option=job-bookmark-disable", "--additional-python-modules", "s3://x"],
        ["--enable-metrics"],
    ],
)
def test_takes_any_option_of_glue(words: list[str]) -> None:
    argv = [ARGV[0], *words, *ARGV[1:], *REBUILD]

    assert job_arguments(RebuildTable, argv).table == "t"


def test_reads_which_part_of_a_table_is_to_be_rebuilt() -> None:
    argv = [*ARGV, *REBUILD]

    whole = job_arguments(RebuildTable, argv)
    later = job_arguments(RebuildTable, [*argv, "--from", "2026-01-01T00:00:00Z"])
    some = job_arguments(RebuildTable, [*argv, "--keys=runs/r-1/keys.ndjson"])

    assert (whole.since, whole.keys) == (None, None)
    assert later.since == datetime(2026, 1, 1, tzinfo=UTC)
    assert some.keys == "runs/r-1/keys.ndjson"


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--from", "2026-01-01"], "RebuildTable: from: "),
        (["--keys", "inbox/keys.ndjson"], "RebuildTable: keys: "),
        (["--from", "2026-01-01T00:00:00Z", "--keys", "runs/k"], "give from or keys, not both"),
    ],
)
def test_refuses_a_part_that_is_none(words: list[str], fault: str) -> None:
    with pytest.raises(InvalidStepInputError, match=fault):
        job_arguments(RebuildTable, [*ARGV, *REBUILD, *words])


@pytest.mark.parametrize("argv", [[], ["job.py"], ARGV[:-1], ["job.py", "--run_id"]])
def test_refuses_arguments_that_are_not_complete(argv: list[str]) -> None:
    with pytest.raises(InvalidStepInputError):
        job_arguments(MergeScd2, argv)


@pytest.mark.parametrize("model", StepModel.__subclasses__())
def test_every_model_is_frozen_and_closed(model: type[StepModel]) -> None:
    assert model.model_config["frozen"]
    assert model.model_config["extra"] == "forbid"
