"""Where an operator's command works: an environment on AWS, or the sandbox that runs here."""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from lakekit.errors import InvalidStepInputError
from lakekit.models import Name
from lakekit.warehouse.places import aws_faults, connect, known_environment

if TYPE_CHECKING:
    from lakekit.aws.place import Place


def _name(text: str | None) -> str | None:
    """Refuse what cannot be the name of a source."""
    try:
        return text if text is None else TypeAdapter(Name).validate_python(text)
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
    """Give the place that a command names; what AWS refuses is one line.

    Raises:
        InvalidStepInputError: It names none or two, no sandbox runs there, or AWS refuses.
        InvalidEnvironmentError: There is no such environment, or it is of another account.
    """
    if sandbox == (environment is not None):
        raise InvalidStepInputError("give --environment NAME or --sandbox")
    with aws_faults(environment or "sandbox"):
        yield _sandbox(data) if environment is None else _environment(environment)


def _environment(name: str) -> "Place":
    environment = known_environment(name)
    from lakekit.aws.place import open_environment  # noqa: PLC0415  boto3 takes its time

    return open_environment(environment)


def _sandbox(data: Path) -> "Place":
    connection = connect(None, data)
    from lakekit.aws.place import place_of  # noqa: PLC0415  boto3 takes its time

    names = connection.names
    bucket, machines = names["landing_bucket"], names["machines"]
    return place_of(connection.client, bucket, machines, getpass.getuser())
