"""Every command in the documentation exists, with its options."""

import inspect
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from lakekit.cli.arguments import spread_inputs
from lakekit.cli.main import app
from tests.docs.pages import ROOT, commands

LAKEKIT = sorted({(page, text) for page, text in commands() if text.startswith("lakekit ")})
MAKE = sorted({(page, text) for page, text in commands() if text.startswith("make ")})
CONSOLE_PROGRAMS = {
    "aws", "cd", "cdk", "gh", "git", "lakekit", "make", "npm", "pip", "python", "source",
}  # fmt: skip


def parse(command: str) -> None:
    """Parse a command line as the program would, and run nothing."""
    command_line, context = typer.main.get_command(app), None
    arguments = spread_inputs(shlex.split(command)[1:])
    while True:
        found: Any = command_line
        try:
            context = found.make_context(found.name or "lakekit", list(arguments), parent=context)
        except typer.Exit:  # an option such as --version needs no command
            return
        if not hasattr(found, "commands"):
            return
        rest = [*context._protected_args, *context.args]
        if not rest and found.invoke_without_command:
            return
        _, command_line, arguments = found.resolve_command(context, rest)


def is_mention(command: str) -> bool:
    """Say whether this only names a command: `lakekit sandbox up`."""
    found: Any = typer.main.get_command(app)
    for word in command.split()[1:]:
        if word not in getattr(found, "commands", {}):
            return False
        found = found.commands[word]
    return True


@pytest.mark.parametrize(("page", "command"), LAKEKIT)
def test_the_command_line_takes_it(page: str, command: str) -> None:
    if not is_mention(command):
        parse(command)


@pytest.mark.parametrize(
    "command",
    [
        "lakekit nonsense --now",
        "lakekit sandbox up --warm",
        "lakekit sql",
        "lakekit merge --at x",
    ],
)
def test_what_the_command_line_does_not_take_would_be_found(command: str) -> None:
    with pytest.raises(Exception, match=r"[Nn]o such|[Mm]issing"):
        parse(command)


@pytest.mark.parametrize(("page", "command"), MAKE)
def test_the_makefile_has_the_target(page: str, command: str) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert command.split()[1] in targets


def test_console_blocks_call_known_programs() -> None:
    lines = [line for _, line in commands() if line]

    assert {line.split()[0] for line in lines} <= CONSOLE_PROGRAMS


def test_the_files_that_commands_name_are_there() -> None:
    named = {
        word.removeprefix("file=")
        for _, line in commands()
        for word in shlex.split(line)
        if re.match(r"^(config|examples|tools|cdk)/[\w/.-]+\.\w+$", word)
    }

    assert len(named) >= 4
    assert [name for name in sorted(named) if not Path(ROOT, name).is_file()] == []


def test_the_help_lists_every_command_that_the_documentation_uses() -> None:
    used = {command.split()[1] for _, command in LAKEKIT} - {"--version", "--help"}
    text = CliRunner().invoke(app, ["--help"]).stdout

    assert {"check", "merge", "sql", "history", "sandbox"} <= used
    assert [name for name in sorted(used) if not re.search(rf"\b{name}\b", text)] == []


def test_every_command_and_target_is_documented() -> None:
    documented = " ".join(f"{command} " for _, command in commands())
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    listed = {name for name in targets if f"make {name} " in documented}

    assert {"setup", "demo", "test", "unit", "lint", "format", "synth"} <= listed
    for name in (
        "add-source",
        "try",
        "check",
        "merge",
        "plan-merge",
        "rebuild",
        "sql",
        "history",
        "as-of",
        "changes",
        "sandbox up",
        "sandbox run",
        "sandbox rebuild",
        "runs",
        "runs watch",
        "landings",
        "status",
        "approve",
        "reject",
        "retry",
    ):
        assert f"lakekit {name}" in documented


def helps() -> list[tuple[str, str]]:
    """Return each command with its help as it is written."""
    found: list[tuple[str, str]] = []
    left: list[tuple[str, Any]] = [("lakekit", typer.main.get_command(app))]
    while left:
        name, command = left.pop()
        found.append((name, inspect.cleandoc(command.help or "")))
        left += [
            (f"{name} {word}", each) for word, each in getattr(command, "commands", {}).items()
        ]
    return sorted(found)


@pytest.mark.parametrize(("name", "text"), helps())
def test_the_examples_of_a_help_fit_a_terminal_and_can_be_copied(name: str, text: str) -> None:
    examples = re.findall(r"^Example:\s+(lakekit .+?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL)

    for line in text.split("\n"):
        if "lakekit " in line or line.startswith("  --"):
            assert len(line) <= 78, line
    for example in examples:
        assert example.startswith(name)
        parse(example.replace("\\\n", " "))
