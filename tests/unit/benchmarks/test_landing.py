"""A landing of any size fits into a function: its memory does not grow with it."""

import json
import subprocess
import sys
from typing import Any

import pytest

from benchmarks.landing import FORMS
from tests.tiers import long

# Of a function with 512 MB, what clients of AWS and the interpreter do not need.
MOST_MB = 350


def measured(form: str, megabytes: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.landing", form, str(megabytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("form", ["names", "csv", long("ndjson")])
def test_memory_does_not_grow_with_a_landing(form: str) -> None:
    small, large = measured(form, 1), measured(form, 12)

    assert large["rows"] > 10 * small["rows"]
    assert large["peak_mb"] < 1.4 * small["peak_mb"]


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_a_landing_of_some_hundred_megabytes_fits_into_a_function(form: str) -> None:
    assert measured(form, 300)["peak_mb"] < MOST_MB
