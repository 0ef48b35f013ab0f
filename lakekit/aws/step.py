"""What every handler has around it: one structured line in, one out, one for an error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any

from aws_lambda_powertools import Logger

from lakekit.errors import LakekitError

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
# What events hold of a run; anything else stays out of the log.
_NAMED = ("run_id", "source", "endpoint")


def logged_step(handler: Handler) -> Handler:
    """Log a handler of `lambdas.<step>.handler`: its run, its result or its error's class."""
    step = handler.__module__.split(".")[-2]

    @wraps(handler)
    def logged(event: dict[str, Any], context: Any) -> dict[str, Any]:
        logger = logger_of(step)
        named = {name: event[name] for name in _NAMED if isinstance(event.get(name), str)}
        request_id = getattr(context, "aws_request_id", None)
        with logger.append_context_keys(function_request_id=request_id, **named):
            try:
                result = handler(event, context)
            except LakekitError as error:
                logger.error("failed", error=type(error).__name__, cause=str(error))
                raise
            except Exception:
                logger.exception("broken")
                raise
            logger.info("done", result=result)
            return result

    return logged


@contextmanager
def logged_message(logger: Logger, fault: str, **about: Any) -> Iterator[None]:
    """Log why a message of a queue failed, and raise it again, so that the message goes back.

    The batch processor would swallow it.
    """
    try:
        yield
    except Exception as error:
        logger.exception(fault, **about, error=type(error).__name__, cause=str(error))
        raise


@cache
def logger_of(step: str) -> Logger:
    """Return the logger of a step."""
    return Logger(service=step)
