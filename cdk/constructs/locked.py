"""The packages of a bundle as `requirements.txt` locks them: versions, hashes, who needs whom."""

import re
from functools import cache
from pathlib import Path

_BLOCK = re.compile(r"^([A-Za-z0-9_.-]+)==[^\n]*(?:\n[ \t]+[^\n]*)*", flags=re.MULTILINE)
_NEEDED_BY = re.compile(r"^ +# (?:via +|  )([A-Za-z0-9_.-]+)", flags=re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9_.-]+")


def locked(lock: str, wanted: list[str]) -> str:
    """Return the lines of some requirements and of all that they need, with their hashes.

    A package that is not locked is a KeyError.

    Example:
        >>> lock = '''a==1 --hash=sha256:0a
        ...     # via lakekit (pyproject.toml)
        ... b==2 --hash=sha256:0b
        ...     # via a
        ... c==3 --hash=sha256:0c
        ...     # via
        ...     #   lakekit (pyproject.toml)
        ... '''
        >>> print(locked(lock, ["a>=1,<2"]))
        a==1 --hash=sha256:0a
        b==2 --hash=sha256:0b
    """
    blocks = _blocks(lock)
    names, waiting = set[str](), [_name(each) for each in wanted]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += [other for other, text in blocks.items() if name in _needed_by(text)]
    return "\n".join(_without_comments(blocks[name]) for name in sorted(names))


def locked_file(root: Path, wanted: list[str]) -> str:
    """Return the lines of some requirements as the lock of a project has them."""
    return locked((root / "requirements.txt").read_text(encoding="utf-8"), wanted)


@cache
def _blocks(lock: str) -> dict[str, str]:
    return {_name(found.group(1)): found.group(0) for found in _BLOCK.finditer(lock)}


def _needed_by(block: str) -> set[str]:
    return {_name(name) for name in _NEEDED_BY.findall(block)}


def _without_comments(block: str) -> str:
    lines = [line for line in block.splitlines() if not line.lstrip().startswith("#")]
    return "\n".join(lines).rstrip(" \\")


def _name(requirement: str) -> str:
    found = _NAME.match(requirement)
    assert found  # noqa: S101
    return re.sub(r"[-_.]+", "-", found.group(0)).lower()
