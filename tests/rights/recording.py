"""What roles were allowed when the tests were recorded; see `tests/rights/test_needed.py`."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parent / "recorded"
Call = tuple[str, str, str]
# The services whose resources are named after runs or tables of tests.
VARYING = ("s3", "glue", "states")
# What differs from one recording to the next: change sets, ids and hashes, times, numbers.
CHANGING = (
    (re.compile(r"(?<=/\.staging/).+"), "ID"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,27}"), "ID"),
    (re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{16,64}(?![0-9A-Za-z])"), "ID"),
    (re.compile(r"[0-9]+"), "0"),
)


def steady(resource: str) -> str:
    """Return an ARN without what changes from one recording to the next.

    Example:
        >>> steady("arn:aws:s3:::b-111/raw/t12/20240101/x.ndjson")
        'arn:aws:s3:::b-111/raw/t0/0/x.ndjson'
    """
    service = resource.split(":")[2] if ":" in resource else ""
    if service not in VARYING or ":job/" in resource or (service == "s3" and "/" not in resource):
        return resource
    head, sign, name = resource.partition("/") if "/" in resource else resource.rpartition(":")
    for pattern, word in CHANGING:
        name = pattern.sub(word, name)
    return head + sign + name


def store(part: str, calls: Iterable[Call]) -> None:
    """Store the calls of one kind of tests in place of those that are stored."""
    FOLDER.mkdir(exist_ok=True)
    found = sorted({(role, action, steady(resource)) for role, action, resource in calls})
    lines = ",\n".join(json.dumps(call) for call in found)
    (FOLDER / f"{part}.json").write_text(f"[\n{lines}\n]\n")
