"""The command line `lakekit`."""

import os
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from lakekit.cli.arguments import take
from lakekit.cli.commands import Commands
from lakekit.cli.output import say, why
from lakekit.cli.project import place
from lakekit.errors import LakekitError
from lakekit.project import product

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    """Show the version; that of a checkout is in its own file, whatever else is installed."""
    if wanted:
        if product.is_checkout():
            declared = tomllib.loads((product.root() / "pyproject.toml").read_text())
            say(f"lakekit {declared['project']['version']} (checkout {product.root()})")
        else:
            say(f"lakekit {version('lakekit')}")
        raise typer.Exit


@app.callback()
def lakekit(
    call: typer.Context,
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    project: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the project, if not the one you are in."),
    ] = None,
) -> None:
    """REST sources and files into Iceberg tables with exact SCD2 history."""
    place.choose(project)
    call.call_on_close(lambda: place.choose(None))


@contextmanager
def _faults_as_exit_code() -> Iterator[None]:
    try:
        yield
    except LakekitError as error:
        say(f"{type(error).__name__}: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        # Whoever reads has read enough, such as `head`. Python would complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
    except OSError as error:
        # Of a folder that cannot be written, or of a full disk behind the output.
        say(f"{type(error).__name__}: {why(error)}", err=True)
        sys.exit(1)


def main() -> None:
    """Run the command line."""
    # PySpark hands over times in the zone of its process; all that is shown is UTC.
    os.environ["TZ"] = "UTC"
    time.tzset()
    # JSON is UTF-8 whatever the locale is, and a table has lines that other encodings lack.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    with _faults_as_exit_code():
        app(args=take(sys.argv[1:]), prog_name="lakekit")


if __name__ == "__main__":
    main()
