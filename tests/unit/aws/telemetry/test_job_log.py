"""The log of a job: lines of JSON, each with the run."""

import io
import json
import logging
from typing import Any

import pytest

from lakekit.aws.telemetry.job_log import logged_job
from lakekit.errors import CommitConflictError
from lakekit.steps.jobs import MergeScd2

ARGUMENTS = MergeScd2(
    run_id="r", source="shop", landing_bucket="b", database="d", warehouse="s3://w"
)
RUN = {"service": "merge_scd2", "run_id": "r", "source": "shop"}


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_what_a_job_logs_has_its_run() -> None:
    stream = io.StringIO()
    with logged_job("merge_scd2", ARGUMENTS, stream=stream):
        logging.getLogger("lakekit.spark.jobs").info("%s merged", "orders")
        logging.getLogger("py4j").warning("not ours")

    found = lines(stream)
    assert [line["message"] for line in found] == ["begins", "orders merged", "done"]
    assert all(RUN.items() <= line.items() for line in found)
    assert found[-1]["seconds"] >= 0


def test_an_error_has_its_class_and_cause_and_goes_on() -> None:
    stream = io.StringIO()
    with (
        pytest.raises(CommitConflictError),
        logged_job("merge_scd2", ARGUMENTS, stream=stream),
    ):
        raise CommitConflictError("others wrote\nfive times")

    failed = lines(stream)[-1]
    assert (failed["level"], failed["error"]) == ("ERROR", "CommitConflictError")
    assert failed["cause"] == "others wrote\nfive times"


def test_a_traceback_is_in_its_line() -> None:
    stream = io.StringIO()
    with logged_job("merge_scd2", ARGUMENTS, stream=stream):
        try:
            raise ValueError("odd")
        except ValueError:
            logging.getLogger("lakekit.spark.jobs").exception("orders failed")

    assert "ValueError: odd" in lines(stream)[1]["exception"]


def test_afterwards_the_log_is_as_it_was() -> None:
    log = logging.getLogger("lakekit")
    before = (log.level, list(log.handlers))
    with logged_job("merge_scd2", ARGUMENTS, stream=io.StringIO()):
        pass

    assert (log.level, log.handlers) == before
