"""Handlers for the functions of these tests."""

import os
import time
from typing import Any


def echo(event: Any, context: Any) -> dict[str, Any]:
    print("a line for the log")  # noqa: T201
    return {
        "event": event,
        "pid": os.getpid(),
        "name": context.function_name,
        "arn": context.invoked_function_arn,
        "remaining": context.get_remaining_time_in_millis(),
        "variable": os.environ.get("STAND_IN"),
        "endpoint": os.environ.get("AWS_ENDPOINT_URL"),
    }


class StandInError(Exception):
    pass


def fail(event: Any, context: Any) -> None:
    raise StandInError("no luck")


def sleep(event: Any, context: Any) -> None:
    time.sleep(60)


def crash(event: Any, context: Any) -> None:
    os._exit(3)


def fail_marked(event: Any, context: Any) -> dict[str, Any]:
    """Fail the messages that say so."""
    bad = [r["messageId"] for r in event["Records"] if "bad" in r["body"]]
    return {"batchItemFailures": [{"itemIdentifier": each} for each in bad]}
