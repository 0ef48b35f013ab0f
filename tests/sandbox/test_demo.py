"""The demo, as `make demo` runs it: it checks its figures, and ends with 0 if they are right.

CI runs `make demo` next to `make test`.
"""

import subprocess
import sys

import pytest

from tests.sandboxes import ROOT


@pytest.mark.long
def test_the_demo_runs_to_its_end():
    done = subprocess.run(
        [sys.executable, "-m", "lakekit.cli.demo"],
        cwd=ROOT, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert "rewrite_data_files" in done.stdout
    page = (ROOT / "build/demo/report.html").read_text()
    assert "41,730 versions" in page
    assert "airports <span" in page
