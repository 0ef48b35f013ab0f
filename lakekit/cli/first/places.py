"""Where the files of sources and contracts are, and what a person gives of secrets."""

from collections.abc import Callable
from typing import Annotated

import typer

from lakekit.errors import InvalidStepInputError, SourceRejectedError
from lakekit.project.folder import SECRETS, Project

# Secrets of this environment are those of a person's own machine, as in the sandbox.
ENVIRONMENT = "dev"
SecretOption = Annotated[
    list[str] | None,
    typer.Option("--secret", metavar="NAME=VALUE", help="The value of a secret; never stored."),
]


def named(name: str) -> str:
    """Return the name of a secret on this machine."""
    return name.replace("{environment}", ENVIRONMENT)


def stored_secrets(project: Project) -> dict[str, str]:
    """Return the secrets of a project's own file, by their names."""
    return {named(name): value for name, value in project.secrets().items()}


def read_secrets(given: list[str] | None) -> dict[str, str]:
    """Return the secrets of an option, by their names.

    Raises:
        InvalidStepInputError: One is not NAME=VALUE; the message does not repeat it.
    """
    found: dict[str, str] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise InvalidStepInputError("--secret needs NAME=VALUE")
        found[named(name)] = value
    return found


def reader_of(values: dict[str, str]) -> Callable[[str], str]:
    """Return what reads a secret by its name."""

    def read(name: str) -> str:
        try:
            return values[named(name)]
        except KeyError:
            raise SourceRejectedError(
                f"secret {named(name)}: has no value here; add it to {SECRETS} of the project, or "
                f"give --secret {named(name)}=VALUE"
            ) from None

    return read
