"""Where an operator's command works: an environment on AWS, or the sandbox that runs here."""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lakekit.cli.project import place
from lakekit.errors import InvalidStepInputError
from lakekit.project.folder import Project
from lakekit.warehouse import places
from lakekit.warehouse.places import SANDBOX as SANDBOX_FOLDER
from lakekit.warehouse.places import aws_faults

if TYPE_CHECKING:
    from lakekit.aws.place import Place
    from lakekit.config.environment import Environment


def _name(text: str | None) -> str | None:
    """Refuse what cannot be the name of a source."""
    if text is None:
        return None
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415  takes its time

    from lakekit.models import Name  # noqa: PLC0415

    try:
        return TypeAdapter(Name).validate_python(text)
    except ValidationError as error:
        raise InvalidStepInputError(f"--source {text}: {error.errors()[0]['msg']}") from None


EnvironmentOption = Annotated[
    str | None, typer.Option("--environment", help="An environment on AWS, by its file's name.")
]
SandboxOption = Annotated[bool, typer.Option("--sandbox", help="The sandbox that runs here.")]
SourceOption = Annotated[
    str | None, typer.Option("--source", callback=_name, help="Only of this source.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON value.")]


@contextmanager
def opened(environment: str | None, sandbox: bool, data: Path) -> Iterator["Place"]:
    """Give the place that a command names, else local runs; what AWS refuses is one line.

    Raises:
        InvalidStepInputError: It names none or two, no sandbox runs there, or AWS refuses.
        InvalidEnvironmentError: There is no such environment, or it is of another account.
    """
    if here(environment, sandbox):
        yield _local(place.required())
        return
    if sandbox == (environment is not None):
        raise InvalidStepInputError("give --environment NAME or --sandbox")
    with aws_faults(environment or "sandbox"):
        yield (
            sandbox_place(place.connect_sandbox(None, data))
            if environment is None
            else _environment(environment)
        )


def where_option(environment: str | None, data: Path) -> str:
    """Return the options by which a command names a place again."""
    if environment:
        return f"--environment {environment}"
    return "--sandbox" if data == SANDBOX_FOLDER else f"--sandbox --data {data}"


def here(environment: str | None, sandbox: bool) -> bool:
    """Say whether a command that names no place means the local runs of a project."""
    return environment is None and not sandbox and place.here() is not None


def known_environment(name: str) -> "Environment":
    """Return an environment by its file's name; see `lakekit.warehouse.places`."""
    return places.known_environment(name, place.required().environments)


def _local(project: Project) -> "Place":
    from lakekit.local.run.log import RunLog  # noqa: PLC0415  takes its time
    from lakekit.local.run.place import BUCKET, LocalPlace  # noqa: PLC0415

    if not (project.warehouse / BUCKET).is_dir():
        raise InvalidStepInputError(
            f"{project.warehouse}: nothing was loaded here yet; `lakekit run` loads a source, or "
            "give --environment NAME or --sandbox"
        )
    from lakekit.aws.place import Place  # noqa: PLC0415  boto3 takes its time

    local = LocalPlace(project.warehouse, watched=True)
    return Place(local.flow, RunLog(local.store), getpass.getuser(), machines={})


def _environment(name: str) -> "Place":
    environment = known_environment(name)
    from lakekit.aws.place import open_environment  # noqa: PLC0415  boto3 takes its time

    return open_environment(environment)


def sandbox_place(connection: Any) -> "Place":
    """Return the sandbox of a connection."""
    from lakekit.aws.place import place_of  # noqa: PLC0415  boto3 takes its time

    names = connection.names
    bucket, machines = names["landing_bucket"], names["machines"]
    return place_of(connection.client, bucket, machines, getpass.getuser())
