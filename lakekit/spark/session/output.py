"""What Java prints goes to a file: its warnings at each start are no news for a person."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def output_into(log: Path) -> Iterator[None]:
    """Write what a child that starts inside prints to a file; Java warns on stdout too."""
    sys.stdout.flush()
    kept = [os.dup(1), os.dup(2)]
    with log.open("ab") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    try:
        yield
    finally:
        for number, file in enumerate(kept, 1):
            os.dup2(file, number)
            os.close(file)
