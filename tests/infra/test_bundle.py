"""The requirements of a function's bundle suffice to import its handler; checked offline."""

import re
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from cdk.constructs.bundle import LOCKED, SOURCES, wanted
from cdk.constructs.locked import locked_file
from cdk.stacks.compute import EXTRAS, FUNCTIONS
from tests.infra.conftest import ROOT

IMAGE = ["boto3"]  # the packages of Lambda's image, with their requirements
PLAIN = ("functions",)
CODE = """
import importlib, sys
sys.path[:0] = [sys.argv[1]]
for step in sys.argv[2:]:
    print(importlib.import_module(f"lambdas.{step}.handler").handler.__name__)
"""


def closure(needs: list[str]) -> set[str]:
    """Return the names of all packages that some requirements bring."""
    found: set[str] = set()
    waiting = [(Requirement(need), "") for need in needs]
    while waiting:
        need, extra = waiting.pop()
        if need.marker and not need.marker.evaluate({"extra": extra}):
            continue
        name = re.sub(r"[-_.]+", "-", need.name).lower()
        below = [Requirement(text) for text in distribution(name).requires or []]
        if name not in found:
            waiting += [(each, "") for each in below]
        waiting += [(each, e) for e in need.extras for each in below if each.marker and e != extra]
        found.add(name)
    return found


def fill(folder: Path, packages: set[str]) -> None:
    """Link the modules of some installed packages, and our sources, into a folder."""
    for package in packages:
        for file in distribution(package).files or []:
            top, target = file.parts[0], Path(str(file.locate()))
            if top in ("..", "__pycache__") or (folder / top).is_symlink():
                continue
            (folder / top).symlink_to(target.parents[len(file.parts) - 2] if len(file.parts) > 1
                                      else target)  # fmt: skip
    for source in SOURCES:
        (folder / source).symlink_to(ROOT / source)


def import_handlers(folder: Path, *steps: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", "-c", CODE, str(folder), *steps]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("extras", [PLAIN, *EXTRAS.values()], ids=str)
def test_a_handler_imports_with_its_bundle_and_lambdas_image_alone(
    tmp_path: Path, extras: tuple[str, ...]
) -> None:
    steps = [step for step in FUNCTIONS if EXTRAS.get(step, PLAIN) == extras]
    fill(tmp_path, closure([*wanted(ROOT, extras), *IMAGE]))

    done = import_handlers(tmp_path, *steps)

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["handler"] * len(steps)


def test_a_bundle_that_lacks_a_package_would_be_found(tmp_path: Path) -> None:
    fill(tmp_path, closure([*wanted(ROOT, PLAIN), *IMAGE]) - {"pydantic"})

    assert "No module named 'pydantic'" in import_handlers(tmp_path, "start_run").stderr


def test_bundles_stay_small() -> None:
    assert closure(wanted(ROOT, PLAIN)) <= {
        "annotated-types", "aws-lambda-powertools", "jmespath", "msgspec", "pydantic",
        "pydantic-core", "pyyaml", "typing-extensions", "typing-inspection", "tzdata",
    }  # fmt: skip


def names(lines: str) -> set[str]:
    return {line.partition("==")[0] for line in lines.splitlines() if "==" in line}


@pytest.mark.parametrize("extras", [(), PLAIN, *EXTRAS.values()], ids=str)
def test_a_bundle_installs_what_it_needs_and_nothing_else_by_hashes(
    extras: tuple[str, ...],
) -> None:
    lines = locked_file(ROOT, wanted(ROOT, extras))

    assert closure(wanted(ROOT, extras)) == names(lines)
    blocks = re.split(r"\n(?=[a-z0-9])", lines)
    assert all(re.match(r"[a-z0-9.-]+==[^ ]+ .*--hash=sha256:", block, re.S) for block in blocks)
    assert {"--require-hashes", "--no-deps"} <= set(LOCKED)


def test_a_package_with_another_hash_is_refused(tmp_path: Path) -> None:
    """Offline: pip reads a folder, in which the package is not what the lock names."""
    wheel = tmp_path / "a-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("a-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: a\nVersion: 1\n")
        archive.writestr("a-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("a-1.dist-info/RECORD", "")
    needs = tmp_path / "requirements.txt"
    needs.write_text(f"a==1 --hash=sha256:{'0' * 64}")
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--find-links", str(tmp_path),
               "--target", str(tmp_path / "out"), *LOCKED, "-r", str(needs)]  # fmt: skip

    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr
