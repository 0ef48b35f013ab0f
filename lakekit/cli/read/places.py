"""Where a command reads: a local warehouse, the sandbox here, or an environment on AWS."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from lakekit.cli.project import place
from lakekit.duckdb.reader import Reader
from lakekit.errors import InvalidStepInputError
from lakekit.warehouse.places import EnvironmentPlace, LocalPlace, Place, SandboxPlace

WarehouseOption = Annotated[
    Path | None, typer.Option("--warehouse", help="A local warehouse, if not that of the project.")
]


@dataclass(frozen=True)
class Where:
    """What a command was given; one of three, or none for the warehouse of the project."""

    warehouse: Path | None
    sandbox: bool
    environment: str | None
    data: Path


def opened(where: Where) -> AbstractContextManager[Reader]:
    """Return a reader of the place that a command names, to be entered; see `Place.reader`.

    Raises:
        InvalidStepInputError: It names none or two.
    """
    return _place(resolved(where)).reader()


def resolved(where: Where) -> Where:
    """Return the place that a command names: of three one, or the project's warehouse.

    Raises:
        InvalidStepInputError: It names none or two.
    """
    given = [where.warehouse is not None, where.sandbox, where.environment is not None].count(True)
    project = None if given else place.here()
    if project:
        return replace(where, warehouse=project.warehouse)
    if given != 1:
        raise InvalidStepInputError("give --warehouse FOLDER, --sandbox or --environment NAME")
    return where


def _place(where: Where) -> Place:
    if where.warehouse is not None:
        return LocalPlace(where.warehouse)
    if where.environment is not None:
        return EnvironmentPlace(where.environment, place.required().environments)
    return SandboxPlace(place.sandbox_folder(where.data))
