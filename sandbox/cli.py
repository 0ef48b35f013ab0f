"""The command line `lakekit`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from lakekit.contracts import load_contract
from lakekit.errors import InvalidContractError, LakekitError
from lakekit.models import parse_yaml
from lakekit.sources import load_source
from sandbox import commands_merge, commands_read, commands_sandbox
from sandbox.arguments import take
from sandbox.local import read_text

app = typer.Typer(
    help="REST sources and files into Iceberg tables with exact SCD2 history.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(commands_sandbox.app, name="sandbox")


@app.command()
def check(files: Annotated[list[Path], typer.Argument(help="Contracts, sources.")]) -> None:
    """Validate contracts and sources and report all their faults.

    Example: lakekit check config/sources/*.yaml config/contracts/*.yaml
    """
    faults = 0
    for file in files:
        try:
            _check_file(file)
            typer.echo(f"{file}: ok")
        except InvalidContractError as error:
            faults += 1
            typer.echo(str(error), err=True)
    if faults:
        raise typer.Exit(1)


commands_merge.register(app)
commands_read.register(app)


def _check_file(file: Path) -> None:
    """Raise what is wrong with a file; its top-level keys say which kind it is."""
    text, name = read_text(file), str(file)
    is_contract = parse_yaml(text, name=name).keys() & {"contract", "endpoint", "schema"}
    (load_contract if is_contract else load_source)(text, name=name)


@contextmanager
def _faults_as_exit_code() -> Iterator[None]:
    try:
        yield
    except LakekitError as error:
        typer.echo(f"{type(error).__name__}: {error}", err=True)
        sys.exit(1)


def main() -> None:
    """Run the command line."""
    with _faults_as_exit_code():
        app(args=take(sys.argv[1:]))
