"""The project of a call: that of `--project`, else of the folder in which it is called."""

from pathlib import Path

from lakekit.project.folder import Project, find_project, open_project

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
