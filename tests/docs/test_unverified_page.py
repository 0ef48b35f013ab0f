"""What has not been seen on AWS: each line has a command that would confirm it."""

import re
import shlex
from collections.abc import Iterator

import pytest
from botocore import xform_name
from botocore.session import get_session

from tests.docs.pages import ROOT

PAGE = (ROOT / "docs/unverified-on-aws.md").read_text()
CLAIMS, _, HOW = PAGE.partition("## How to confirm each")
COMMANDS = re.compile(r"`((?:aws|gh|git|lakekit) [^`]+)`")
# Options of the AWS CLI itself, and commands that it has without one of their name in the API.
GLOBAL = {"region", "query", "output"}
OWN = {("s3", "ls"), ("logs", "tail")}


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


CONFIRMED = dict(rows(HOW))
AWS = sorted({command for how in CONFIRMED.values() for command in COMMANDS.findall(how)
              if command.startswith("aws ")})  # fmt: skip


def test_each_line_has_a_command_and_what_it_must_show() -> None:
    assert CONFIRMED.keys() == {claim for claim, *_ in rows(CLAIMS)}
    for claim, how in CONFIRMED.items():
        assert COMMANDS.search(how), claim
        assert how.rpartition(": ")[2], claim


def unknown(command: str) -> Iterator[str]:
    """Yield what of a command the API of its service does not know."""
    _, service, operation, *rest = shlex.split(command)
    if (service, operation) in OWN:
        return
    model = get_session().get_service_model("s3" if service == "s3api" else service)
    operations = {xform_name(name, "-"): name for name in model.operation_names}
    if operation not in operations:
        yield operation
        return
    shape = model.operation_model(operations[operation]).input_shape
    known = {xform_name(name, "-") for name in shape.members} if shape else set()
    yield from {word[2:] for word in rest if word.startswith("--")} - known - GLOBAL


@pytest.mark.parametrize("command", AWS)
def test_the_api_knows_a_command_and_its_options(command: str) -> None:
    assert list(unknown(command)) == []


@pytest.mark.parametrize(
    ("command", "fault"),
    [("aws glue get-runs --job-name x", "get-runs"), ("aws glue get-job-runs --job x", "job")],
)
def test_what_the_api_does_not_know_would_be_found(command: str, fault: str) -> None:
    assert list(unknown(command)) == [fault]
