"""The peers' packages and jars, and matplotlib: virtual environments below `build/bench`.

A peer whose packages cannot be had is reported as absent, with the reason.
"""

import hashlib
import subprocess
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lakekit.spark.session.jars import cache, cached_jars, trust_options

REQUIREMENTS = Path(__file__).parent / "requirements.txt"
DELTA = ("io.delta:delta-spark_2.12:3.3.2", "io.delta:delta-storage:3.3.2")
_RESOLVE = """
import sys
from pyspark.sql import SparkSession
ivy, java, packages = sys.argv[1:]
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.jars.ivy", ivy).config("spark.driver.extraJavaOptions", java)
builder.config("spark.jars.packages", packages).getOrCreate().stop()
"""


@dataclass(frozen=True)
class Peers:
    """Where the peers run; `missing` says why they cannot."""

    python: Path
    missing: str = ""


def set_up(folder: Path, say: Callable[[str], None], requirements: Path = REQUIREMENTS) -> Peers:
    """Make an environment, unless it is there for these requirements."""
    python = folder / "bin" / "python"
    stamp = folder / "requirements.sha256"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return Peers(python)
    say(f"installing packages (benchmarks/{requirements.name}) ...")
    venv.create(folder, clear=True)
    # pip finds no hash for a pinned package that another one asks for with an extra.
    command = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", str(python)]
    command += ["--require-hashes", "-r", str(requirements)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        return Peers(python, f"its packages cannot be installed: {done.stderr[-500:]}")
    stamp.write_text(wanted)
    return Peers(python)


def delta_class_path() -> tuple[str, str]:
    """Return the class path of Delta's jars, and why it cannot be had if it cannot."""
    jars = cached_jars(DELTA)
    if not all(jar.is_file() for jar in jars):
        arguments = [str(cache()), trust_options(cache()), ",".join(DELTA)]
        command = [sys.executable, "-c", _RESOLVE, *arguments]
        done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
        if not all(jar.is_file() for jar in jars):
            return "", f"Delta's jars cannot be resolved: {done.stderr[-500:]}"
    return ":".join(str(jar) for jar in jars), ""
