"""The project of a call: that of `--project`, else of the folder in which it is called."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakekit.errors import InvalidStepInputError, UnknownSourceError
from lakekit.project.folder import Project, find_project, open_project

if TYPE_CHECKING:
    from lakekit.config.source import Source

_GIVEN: list[Path] = []


def choose(folder: Path | None) -> None:
    """Keep the folder that a call names; None for the one in which it is called."""
    _GIVEN[:] = [folder] if folder else []


def here() -> Project | None:
    """Return the project, if there is one.

    Raises:
        InvalidStepInputError: The call names a folder that is none.
    """
    return open_project(_GIVEN[0]) if _GIVEN else find_project(Path.cwd())


def required() -> Project:
    """Return the project.

    Raises:
        InvalidStepInputError: There is none.
    """
    return open_project(_GIVEN[0] if _GIVEN else Path.cwd())


def within(default: Path) -> Path:
    """Return a folder that a command makes: in the project, or here where there is none."""
    project = here()
    return project.folder / default if project else default


def sandbox_folder(data: Path) -> Path:
    """Return the folder of a sandbox: that of the project, unless a call names one."""
    from lakekit.warehouse.places import SANDBOX  # noqa: PLC0415  takes its time

    return within(data) if data == SANDBOX else data


def connect_sandbox(endpoint: str | None, data: Path) -> Any:
    """Return a connection to a sandbox; see `lakekit.warehouse.places`."""
    from lakekit.warehouse.places import connect  # noqa: PLC0415  takes its time

    return connect(endpoint, sandbox_folder(data))


def source_named(project: Project, name: str) -> "Source":
    """Return a source of a project.

    Raises:
        UnknownSourceError: There is none; the message names those that there are.
        InvalidContractError: Its file does not load.
    """
    from lakekit.config.load import read_source, read_sources  # noqa: PLC0415  takes its time

    try:
        return read_source(project.config, name)
    except UnknownSourceError:
        known = ", ".join(each.source for each in read_sources(project.config))
        there = f"there are {known}" if known else "`lakekit add-source` writes one"
        raise UnknownSourceError(
            f"{project.config / 'sources'} has no {name}.yaml; {there}"
        ) from None


def refuse_files(project: Project, source: "Source", table: str) -> None:
    """Refuse a source of files alone: there is nothing to ask.

    Raises:
        InvalidStepInputError: It is one; the message has the command that merges a file.
    """
    if source.base_url is None:
        contract = shlex.quote(str(project.config / "contracts" / f"{table}.yaml"))
        warehouse = shlex.quote(str(project.warehouse))
        raise InvalidStepInputError(
            f"{source.source} has no base_url: its tables are made of files, and nothing is asked "
            f"for. To merge a file: lakekit merge --contract {contract} --warehouse {warehouse} "
            "--input FILE --at TIME"
        )
