"""What every job has around it: lines of JSON with its run, for the log of its output."""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TextIO

# Of the arguments of a job, those by which a line is found.
_NAMED = ("run_id", "source", "table")


class JsonLines(logging.Formatter):
    """Formats each record as one line, with what all lines of a job have in common."""

    def __init__(self, common: dict[str, str]) -> None:
        super().__init__()
        self._common = common

    def format(self, record: logging.LogRecord) -> str:
        """Return a line; its order of fields is that of the functions' logs."""
        line: dict[str, Any] = {
            "level": record.levelname,
            "location": f"{record.name}:{record.lineno}",
            "message": record.getMessage(),
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(),
            **self._common,
            **getattr(record, "about", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


@contextmanager
def logged_job(job: str, arguments: Any, *, stream: TextIO | None = None) -> Iterator[None]:
    """Log a job: that it began, how long it took, or the class and cause of its error.

    What `lakekit` logs meanwhile has the run too. Other loggers keep their handlers.

    Args:
        job: The job, as its step is called.
        arguments: Its arguments, whose run, source and table are in every line.
        stream: Where the lines go, if not to the standard output.
    """
    named = {name: getattr(arguments, name, None) for name in _NAMED}
    common = {"service": job, **{name: value for name, value in named.items() if value}}
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(JsonLines(common))
    log = logging.getLogger("lakekit")
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    began = datetime.now(UTC)
    try:
        log.info("begins")
        yield
        seconds = (datetime.now(UTC) - began).total_seconds()
        log.info("done", extra={"about": {"seconds": round(seconds, 1)}})
    except Exception as error:
        about = {"error": type(error).__name__, "cause": str(error)}
        log.error("failed", extra={"about": about})
        raise
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
