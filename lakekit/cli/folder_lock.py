"""One sandbox per folder: whoever holds it is named to the next one."""

import fcntl
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from lakekit.errors import InvalidStepInputError


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder; the lock ends with this process, however it ends.

    Raises:
        InvalidStepInputError: Another process holds it; the message names that process.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise InvalidStepInputError(
                f"{folder}: {_holder(lock.read())} runs a sandbox here; stop it by Ctrl-C, or give "
                "this one another folder with --data"
            ) from None
        command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
        about = {"pid": os.getpid(), "command": command, "since": _now()}
        lock.truncate(0)
        lock.write(json.dumps(about))
        lock.flush()
        yield


def _holder(text: str) -> str:
    with suppress(ValueError, KeyError, TypeError):
        found = json.loads(text)
        return f"process {found['pid']} (`{found['command']}`, since {found['since']})"
    return "another process"


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
