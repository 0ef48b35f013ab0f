"""Where the files of sources and contracts are, and what a person gives of secrets."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from lakekit.errors import InvalidStepInputError, SourceRejectedError

# Secrets of this environment are those of a person's own machine, as in the sandbox.
ENVIRONMENT = "dev"
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="Folder of sources/ and contracts/; the project's own if none."),
]
SecretOption = Annotated[
    list[str] | None,
    typer.Option("--secret", metavar="NAME=VALUE", help="The value of a secret; never stored."),
]


def config_folder(given: Path | None) -> Path:
    """Return the folder of the configuration."""
    if given is not None:
        return given
    from lakekit.sandbox import project  # noqa: PLC0415  moto takes its time

    return project.root() / "config"


def named(name: str) -> str:
    """Return the name of a secret on this machine."""
    return name.replace("{environment}", ENVIRONMENT)


def read_secrets(given: list[str] | None) -> dict[str, str]:
    """Return the secrets of an option by their names.

    Raises:
        InvalidStepInputError: One is not NAME=VALUE; the message does not repeat it.
    """
    found = {}
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
                f"secret {named(name)}: has no value here; give --secret {named(name)}=VALUE"
            ) from None

    return read
