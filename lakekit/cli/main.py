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

from lakekit.cli import merge as commands_merge
from lakekit.cli import rebuild as commands_rebuild
from lakekit.cli import sandbox as commands_sandbox
from lakekit.cli.arguments import take
from lakekit.cli.exchange import commands as commands_exchange
from lakekit.cli.first import add_source as commands_first
from lakekit.cli.operate import commands as commands_operate
from lakekit.cli.operate import cost as commands_cost
from lakekit.cli.operate import doctor as commands_doctor
from lakekit.cli.operate import smoke as commands_smoke
from lakekit.cli.operate import watermark as commands_watermark
from lakekit.cli.output import say
from lakekit.cli.page import commands as commands_page
from lakekit.cli.project import commands as commands_project
from lakekit.cli.project import place
from lakekit.cli.read import commands as commands_read
from lakekit.errors import LakekitError
from lakekit.local.warehouse import why
from lakekit.project import product

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
commands_rebuild.register(commands_sandbox.app)
app.add_typer(commands_sandbox.app, name="sandbox")


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


commands_project.register(app)
commands_first.register(app)
commands_merge.register(app)
commands_read.register(app)
commands_page.register(app)
commands_operate.register(app)
commands_cost.register(app)
commands_doctor.register(app)
app.add_typer(commands_watermark.app, name="watermark")
commands_exchange.register(app)
commands_smoke.register(app)


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
