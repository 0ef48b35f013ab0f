"""The files of a report: `summary.json`, `summary.md` and the plot; and its machine."""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.aims import judged
from benchmarks.harness import ROOT
from benchmarks.peers import set_up
from benchmarks.places import OUT
from benchmarks.summary import markdown

PLOT = Path(__file__).parent / "requirements-plot.txt"


def write(summary: Mapping[str, Any]) -> None:
    """Write what is measured so far, for programs and for people."""
    whole = {**summary, "aims": judged(summary)}
    (OUT / "summary.json").write_text(json.dumps(whole, indent=2, default=str) + "\n")
    (OUT / "summary.md").write_text(markdown(summary))


def plot(say: Callable[[str], None]) -> None:
    """Draw the summary in an environment that has nothing but matplotlib."""
    drawing = set_up(OUT / "plot", say, PLOT)
    if drawing.missing:
        say(f"no plot: {drawing.missing}")
        return
    command = [str(drawing.python), "-m", "benchmarks.plot", str(OUT / "summary.json")]
    subprocess.run(command, check=True, cwd=ROOT)  # noqa: S603  our own module


def machine(heap: str) -> dict[str, Any]:
    """Return what the figures of a run depend on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    git = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(git, check=False, capture_output=True, text=True, cwd=ROOT)  # noqa: S603
    commit = done.stdout.strip()
    found = {
        "cores": os.cpu_count(),
        "memory_gb": round(memory, 1),
        "load_at_start": os.getloadavg()[0],
        "heap": heap,
        "commit": commit,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    text = (
        f"{found['cores']} cores, {found['memory_gb']} GB; Spark local[2], heap {found['heap']}; "
        f"load of the machine at the start {found['load_at_start']:.1f}; commit {commit}; "
        "medians of the timed batches, after those to warm up"
    )
    return found | {"text": text}
