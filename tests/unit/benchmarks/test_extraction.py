"""Memory does not grow with what a source answers."""

import json
import subprocess
import sys

import pytest

from benchmarks.extraction import BODIES

MOST_MB = 150


@pytest.mark.long
@pytest.mark.parametrize("body", BODIES)
def test_a_body_of_any_size_fits_into_a_function(body: str) -> None:
    command = [sys.executable, "-m", "benchmarks.extraction", body]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert json.loads(done.stdout)["peak_mb"] < MOST_MB
