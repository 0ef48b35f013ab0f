"""The command line `lakekit`."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from lakekit.cli import merge as commands_merge
from lakekit.cli import read as commands_read
from lakekit.cli import rebuild as commands_rebuild
from lakekit.cli import sandbox as commands_sandbox
from lakekit.cli.arguments import take
from lakekit.cli.check import check_files
from lakekit.errors import LakekitError

app = typer.Typer(
    help="REST sources and files into Iceberg tables with exact SCD2 history.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
commands_rebuild.register(commands_sandbox.app)
app.add_typer(commands_sandbox.app, name="sandbox")


@app.command()
def check(files: Annotated[list[Path], typer.Argument(help="Contracts, sources.")]) -> None:
    """Validate contracts and sources and report all their faults.

    Example: lakekit check config/sources/*.yaml config/contracts/*.yaml
    """
    faults = check_files(files)
    for file, lines in faults.items():
        typer.echo("\n".join(lines) or f"{file}: ok", err=bool(lines))
    if any(faults.values()):
        raise typer.Exit(1)


commands_merge.register(app)
commands_read.register(app)


@contextmanager
def _faults_as_exit_code() -> Iterator[None]:
    try:
        yield
    except LakekitError as error:
        typer.echo(f"{type(error).__name__}: {error}", err=True)
        sys.exit(1)


def main() -> None:
    """Run the command line."""
    # PySpark hands over times in the zone of its process; all that is shown is UTC.
    os.environ["TZ"] = "UTC"
    time.tzset()
    with _faults_as_exit_code():
        app(args=take(sys.argv[1:]))
