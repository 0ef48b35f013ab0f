"""Answers the sandbox's requests one after another, and ends with the sandbox.

Standard library only, started by path with the script that has the function `answer`. Requests come
by a pipe whose other end only the sandbox holds. The system closes it however the sandbox ends, so
its end is the sign for this process to end too, with all that it started and whatever it does.
"""

import json
import os
import signal
import sys
import threading
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TextIO

Requests = SimpleQueue[dict[str, Any]]


def load(script: Path) -> Any:
    """Return a script as a module."""
    spec = spec_from_file_location(script.stem, script)
    if spec is None or spec.loader is None:
        raise ImportError(str(script))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def receive(stream: TextIO, requests: Requests) -> None:
    """Queue the requests until their pipe ends; then end this process and its children.

    The main thread cannot do that: it runs a function or a job, perhaps for hours.
    """
    try:
        for line in stream:
            requests.put(json.loads(line))
    finally:
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(1)


def main() -> None:
    # What a function or a job prints goes to the log; only answers go to the sandbox.
    answers = os.fdopen(os.dup(1), "w")
    stream = os.fdopen(os.dup(0))
    os.dup2(2, 1)
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)
    requests: Requests = SimpleQueue()
    threading.Thread(target=receive, args=(stream, requests), daemon=True).start()
    worker = load(Path(__file__).with_name(sys.argv[1]))
    while True:
        answers.write(json.dumps(worker.answer(requests.get())) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
