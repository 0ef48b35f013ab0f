"""Runs one function, as AWS Lambda's runtime does. Standard library only; loaded by `serve.py`."""

import importlib
import json
import time
import traceback
from collections.abc import Callable
from typing import Any

Handler = Callable[[Any, Any], Any]


class Context:
    """What a handler gets as its second argument."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._deadline = request["deadline"]
        self.aws_request_id = request["request_id"]
        self.invoked_function_arn = request["arn"]
        self.function_name = request["name"]
        self.function_version = request["version"]
        self.memory_limit_in_mb = str(request["memory"])
        self.log_group_name = f"/aws/lambda/{request['name']}"
        self.log_stream_name = "sandbox"

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._deadline - time.time()) * 1000))


def find_handler(name: str) -> Handler:
    module, _, function = name.rpartition(".")
    handler: Handler = getattr(importlib.import_module(module), function)
    return handler


def failure(error: BaseException, request_id: str, kind: str | None = None) -> dict[str, Any]:
    return {
        "errorMessage": str(error),
        "errorType": kind or type(error).__name__,
        "requestId": request_id,
        "stackTrace": traceback.format_tb(error.__traceback__),
    }


def invoke(request: dict[str, Any], handlers: dict[str, Handler]) -> dict[str, Any]:
    """Return `{"payload": text}`, with `failed` when the function raised."""
    name, identity = request["handler"], request["request_id"]
    try:
        if name not in handlers:
            handlers[name] = find_handler(name)
    except Exception as error:
        traceback.print_exc()
        return {"payload": json.dumps(failure(error, identity, "Runtime.ImportModuleError")),
                "failed": True}  # fmt: skip
    try:
        result = handlers[name](request["event"], Context(request))
    except Exception as error:
        traceback.print_exc()
        return {"payload": json.dumps(failure(error, identity)), "failed": True}
    try:
        return {"payload": json.dumps(result)}
    except (TypeError, ValueError) as error:
        return {"payload": json.dumps(failure(error, identity, "Runtime.MarshalError")),
                "failed": True}  # fmt: skip


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Invoke the function, with the lines that Lambda writes to a log."""
    started = time.time()
    print(f"START RequestId: {request['request_id']} Version: {request['version']}", flush=True)
    result = invoke(request, _HANDLERS)
    spent = (time.time() - started) * 1000
    print(f"END RequestId: {request['request_id']} Duration: {spent:.0f} ms", flush=True)
    return result


_HANDLERS: dict[str, Handler] = {}
