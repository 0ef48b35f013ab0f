"""`lakekit run`: load a source into a local warehouse."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import astuple, fields
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated

import typer

from lakekit.cli.formats import FormatOption
from lakekit.cli.output import say, show
from lakekit.cli.project import place
from lakekit.config.load import check_contracts, read_contracts
from lakekit.errors import LakekitError, SourceRejectedError
from lakekit.local.warehouse import opened, tidy_staging
from lakekit.project.folder import SECRETS, Project
from lakekit.project.product import ENVIRONMENT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakekit.local.run.load import Outcome
    from lakekit.local.run.place import LocalPlace

LOG = "run.log"
# How often the documents of a run are read for what is new.
LOOK_SECONDS = 5.0


def run(
    source: Annotated[str, typer.Argument(help="Name of the source.")],
    warehouse: Annotated[
        Path | None, typer.Option(help="Folder of the tables; that of the project by default.")
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Load a source into the local warehouse, through the steps that run on AWS.

    Say what each table opened, closed, deleted and quarantined. Run it again to load what is new.

    Example: lakekit run shop_api
    """
    project = place.required()
    where = warehouse or project.warehouse
    began = time.monotonic()
    outcome = load(project, source, where)
    columns = [each.name for each in fields(type(outcome.tables[0]))] if outcome.tables else []
    show(columns, map(astuple, outcome.tables), form, limit=0)
    if outcome.error:
        say(f"failed: {outcome.cause}", err=True)
        say(f"what has landed stays in {where}; see {where / LOG}", err=True)
        if where == project.warehouse and _waits(where, source):
            say(
                "a landing waits for you, and later runs leave it out: lakekit landings --blocked",
                err=True,
            )
        raise typer.Exit(1)
    done = "loaded into" if outcome.tables else "nothing new for"
    say(f"{source}: {done} {where} in {time.monotonic() - began:.0f} s", err=True)


def load(project: Project, source: str, warehouse: Path) -> "Outcome":
    """Load a source of a project.

    Raises:
        UnknownSourceError: There is no such source; the message names those that there are.
        LakekitError: A file does not load, or a step failed.
    """
    from lakekit.local.run.load import LocalLoad  # noqa: PLC0415  takes its time
    from lakekit.local.run.place import LocalPlace, refuse_merged  # noqa: PLC0415

    found = place.source_named(project, source)
    check_contracts(project.config, source)
    contracts = read_contracts(project.config, source)
    place.refuse_files(project, found, contracts[0].contract if contracts else "TABLE")
    refuse_merged(warehouse, contracts)
    where = LocalPlace(warehouse)
    with where.alone():
        _log_into(warehouse / LOG)
        tidy_staging(warehouse)
        work: LocalLoad = LocalLoad(
            where, found, contracts, _spark(warehouse), _secrets(project),
            lambda text: say(text, err=True),
        )  # fmt: skip
        try:
            with _saying(lambda: _progress(where)):
                return work.load()
        except KeyboardInterrupt:
            say(
                f"stopped; what has landed stays in {warehouse}, and the next run goes on with it",
                err=True,
            )
            raise typer.Exit(130) from None


def _waits(warehouse: Path, source: str) -> bool:
    from lakekit.landing.index import BLOCKED, tables_with  # noqa: PLC0415  takes its time
    from lakekit.local.run.place import LocalPlace  # noqa: PLC0415

    return bool(tables_with(LocalPlace(warehouse).store, BLOCKED, source))


@contextmanager
def _saying(progress: Callable[[], Sequence[str]]) -> Iterator[None]:
    """Say meanwhile how far a run is, each line once."""
    done, said = Event(), set[str]()

    def look() -> None:
        while not done.wait(LOOK_SECONDS):
            for line in progress():
                if line not in said:
                    said.add(line)
                    say(line, err=True)

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _progress(where: "LocalPlace") -> Sequence[str]:
    from lakekit.cli.watch.texts import progress_lines  # noqa: PLC0415  takes its time
    from lakekit.operate.run_report import report_run  # noqa: PLC0415

    # What cannot be read yet must not end a run.
    with suppress(LakekitError, OSError):
        return progress_lines(report_run(where.store, where.runs.current))
    return ()


def _spark(warehouse: Path) -> Callable[[], AbstractContextManager["SparkSession"]]:
    return lambda: opened(warehouse, make=True)


def _secrets(project: Project) -> Callable[[str], str]:
    values = project.secrets()

    def secret(name: str) -> str:
        full = name.replace("{environment}", ENVIRONMENT)
        if full not in values:
            file = project.folder / SECRETS
            raise SourceRejectedError(f'secret {full}: add it to {file}: {full}: "…"')
        return values[full]

    return secret


def _log_into(file: Path) -> None:
    """Send what the steps log to a file: errors of a table are shown in one line at the end."""
    logger = logging.getLogger("lakekit")
    logger.handlers[:] = [logging.FileHandler(file)]
    logger.setLevel(logging.INFO)
    logger.propagate = False
