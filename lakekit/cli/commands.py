"""The commands of `lakekit`, by what they are for; the code of one is imported when called."""

from collections.abc import Callable, Iterator, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

if TYPE_CHECKING:
    from typer._click import Command, Context


class Entry(NamedTuple):
    """A command: where its function or group is, below `lakekit.cli`, and what it is for."""

    place: str
    summary: str
    panel: str


def _panel(title: str, *commands: tuple[str, str, str]) -> dict[str, Entry]:
    return {name: Entry(place, summary, title) for name, place, summary in commands}


# In at most 60 characters, so that a terminal of 80 columns shows each on one line.
COMMANDS = {
    **_panel(
        "A project",
        ("init", "project.commands:init", "Make a project: a folder with what you write."),
        (
            "add-source",
            "first.add_source:add_source",
            "Write a source and a contract for an API.",
        ),
        ("try", "first.try_source:try_source", "Show the table that a source would make."),
        ("check", "project.commands:check", "Report all faults of the files of a project."),
        ("run", "project.run:run", "Load a source into the local warehouse."),
        ("schema", "project.commands:schema", "Write the JSON Schemas that editors use."),
        ("synth", "project.commands:synth", "Write the CloudFormation templates and packages."),
        ("sandbox", "rebuild:app", "AWS on this machine: up, run, secret, rebuild."),
    ),
    **_panel(
        "Read tables",
        ("tables", "read.commands:tables", "List the tables, their rows, their last commits."),
        ("describe", "read.commands:describe", "Show the columns of a table."),
        ("history", "read.commands:history", "Show all versions of one key."),
        ("as-of", "read.commands:as_of", "Show the rows that were valid at a time."),
        ("changes", "read.commands:changes", "Show what changed between two times, old → new."),
        ("sql", "read.commands:sql", "Query the tables by their names."),
        ("report", "page.commands:report", "Write a page about tables, runs and what waits."),
    ),
    **_panel(
        "Files into a local warehouse",
        ("merge", "merge:merge", "Merge files into a table, one run per --at."),
        ("plan-merge", "merge:plan_merge", "Say what a merge would do; commit nothing."),
        ("rebuild", "merge:rebuild", "Derive a table again from what has landed."),
    ),
    **_panel(
        "Operate",
        ("runs", "operate.commands:run_group", "Show recent runs, or watch one."),
        ("status", "operate.commands:status", "Show what waits, and who holds each table."),
        ("landings", "operate.commands:landings", "Show the landings that wait, or all of one."),
        ("approve", "operate.commands:approve", "Let a landing pass the guards."),
        ("reject", "operate.commands:reject", "Never merge a landing."),
        ("retry", "operate.commands:retry", "Try a landing again, by the contract of now."),
        ("backfill", "operate.backfill:backfill", "Ask a source for a time of the past again."),
        ("watermark", "operate.watermark:app", "Show or set where the next run begins."),
        ("smoke", "operate.smoke:smoke", "Load one source; fail unless its tables load."),
    ),
    **_panel(
        "An environment on AWS",
        ("cost", "operate.cost:cost", "Estimate what a month of it costs."),
        ("doctor", "operate.doctor:doctor", "Look at its account: what it needs, what is left."),
    ),
    **_panel(
        "Other tools",
        ("export", "exchange.commands:export", "Contracts for dbt, ODCS, and BI tools."),
        ("import", "exchange.commands:take", "Contracts out of ODCS."),
    ),
}
_TYPES = {
    "bool": "", "str": "TEXT", "list[str]": "TEXT", "int": "NUMBER", "float": "NUMBER",
    "Path": "PATH", "list[Path]": "PATH",
}  # fmt: skip


def load_command(name: str) -> "Command":
    """Import a command and return it.

    Raises:
        KeyError: There is none of that name.
    """
    entry = COMMANDS[name]
    module, _, attribute = entry.place.partition(":")
    found: Callable[..., Any] | typer.Typer = getattr(
        import_module(f"lakekit.cli.{module}"), attribute
    )
    if isinstance(found, typer.Typer):
        group = typer.main.get_group(found)
        group.name = name
        for each in (group, *group.commands.values()):
            _show_plain_types(each)
        return group
    app = typer.Typer(add_completion=False)
    app.command(name)(found)
    command = typer.main.get_command(app)
    _show_plain_types(command)
    return command


def _show_plain_types(command: "Command") -> None:
    """Let the help show TEXT where an option takes one, nothing at a flag, arguments as NAMES."""
    for option in command.get_params(typer.Context(command)):
        if isinstance(option, TyperArgument):
            option.metavar = option.metavar or (option.name or "").upper()
            if not option.type_descriptor.is_choice:
                option.display_type_rich = lambda ctx: None  # type: ignore[method-assign]
        if isinstance(option, TyperOption) and option.metavar is None:
            option.metavar = _TYPES.get(option.bare_type())


class _Loaded(MutableMapping[str, "Command"]):
    """The commands by their names, each imported when it is first asked for."""

    def __init__(self) -> None:
        self._commands: dict[str, Command] = {}

    def __getitem__(self, name: str) -> "Command":
        if name not in self._commands:
            self._commands[name] = load_command(name)
        return self._commands[name]

    def __setitem__(self, name: str, command: "Command") -> None:
        self._commands[name] = command

    def __delitem__(self, name: str) -> None:
        del self._commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS


class Commands(TyperGroup):
    """The group of all commands; its own help lists them by their summaries, importing none."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: MutableMapping[str, Command] = _Loaded()
        self._is_listing = False
        _show_plain_types(self)

    def format_help(self, ctx: "Context", formatter: Any) -> None:
        """Write the help, with a line for each command."""
        self._is_listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._is_listing = False

    def list_commands(self, ctx: "Context") -> list[str]:
        """Return the names of all commands, in the order of the help."""
        return list(self.commands)

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
        """Return a command; while they are listed, one that has a summary alone."""
        if self._is_listing:
            entry = COMMANDS[cmd_name]
            return TyperCommand(
                cmd_name, short_help=entry.summary, rich_help_panel=entry.panel
            )  # fmt: skip
        return super().get_command(ctx, cmd_name)
