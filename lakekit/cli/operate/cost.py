"""`lakekit cost`."""

import textwrap
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

import typer

from lakekit.cli.formats import FormatOption
from lakekit.cli.operate.places import known_environment
from lakekit.cli.operate.texts import WIDTH
from lakekit.cli.output import say, show
from lakekit.cli.project import place
from lakekit.config.load import read_sources, read_tables
from lakekit.errors import InvalidStepInputError
from lakekit.operate.cost import (
    JOB_SECONDS,
    LOADS_PER_MAINTENANCE,
    WORKER_MEGABYTES_PER_SECOND,
    Estimate,
    SourceCost,
    estimate_month,
)

DEFAULT_MEGABYTES = 10.0
_MOST = 1e9
COLUMNS = ("source", "loads", "GB", "jobs", "functions", "states", "storage", "total")


def cost(
    environment: Annotated[str, typer.Option("--environment", help="By its file's name.")],
    size: Annotated[
        list[str] | None,
        typer.Option(metavar="SOURCE=MB", help="What one load lands, unpacked; repeat it."),
    ] = None,
    loads: Annotated[
        list[str] | None,
        typer.Option(metavar="SOURCE=N", help="Loads a month, in place of its schedule's."),
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Estimate what an environment costs in a month, in US dollars.

    From its file, the schedules of its sources and the sizes of their loads. It needs no
    credentials and calls nothing.

    Example: lakekit cost --environment prod --size airports_api=12
    """
    known = known_environment(environment)
    folder = place.required().config
    sources = read_sources(folder, environment)
    names = [each.source for each in sources]
    sizes = dict.fromkeys(names, DEFAULT_MEGABYTES) | _numbers("--size", size or [], names)
    counts = _numbers("--loads", loads or [], names)
    tables = read_tables(folder, [each.source for each in sources])
    now = datetime.now(UTC)
    found = estimate_month(known, sources, tables, sizes, now, loads=counts)
    rows = [_row(each, form) for each in found.sources]
    nothing = (None,) * (len(COLUMNS) - 2)
    fixed, total = ((Decimal(f"{value:.2f}") if form == "table" else value)
                    for value in (found.fixed, found.total))  # fmt: skip
    rows += [("(without a run)", *nothing, fixed), ("(all)", *nothing, total)]
    show(COLUMNS, rows, form, limit=0)
    if form == "table":
        say(_text(found, sizes))


def _numbers(option: str, given: Sequence[str], sources: Sequence[str]) -> dict[str, float]:
    """Return the number that an option has for each source it names.

    Raises:
        InvalidStepInputError: A source is unknown, or a number not above 0.
    """
    found = {}
    for text in given:
        name, _, number = text.partition("=")
        if name not in sources:
            there = f"there are {', '.join(sources)}" if sources else "there are none"
            raise InvalidStepInputError(f"{option} {text}: no source of the environment; {there}")
        try:
            found[name] = float(number)
        except ValueError:
            found[name] = 0
        if not 0 < found[name] <= _MOST:
            raise InvalidStepInputError(
                f"{option} {text}: must have a number above 0, such as {name}=25"
            )
    return found


def _row(each: SourceCost, form: str) -> tuple[Any, ...]:
    values = (each.gigabytes, each.glue, each.functions, each.states, each.storage, each.total)
    shown = [Decimal(f"{value:.2f}") for value in values] if form == "table" else values
    return (each.source, each.loads, *shown)


def _text(found: Estimate, sizes: Mapping[str, float]) -> str:
    idle = [each.source for each in found.sources if not each.loads]
    lines = [
        f"US dollars for 30 days, by the prices of us-east-1 of {found.prices_of}; without taxes, "
        "free tiers, queries and traffic.",
        f"A load has {', '.join(f'{size:g} MB ({name})' for name, size in sizes.items())}. A merge "
        f"takes {JOB_SECONDS} seconds, and a minute for each "
        f"{60 * WORKER_MEGABYTES_PER_SECOND:.0f} MB and worker. A table is maintained after "
        f"{LOADS_PER_MAINTENANCE} loads.",
        f"To keep the landings of a whole year costs ${found.landings_in_a_year:.2f} a month.",
    ]
    if idle:
        lines.append(f"No schedule starts {', '.join(idle)}; --loads says how often a run does.")
    return "\n".join(textwrap.fill(line, WIDTH) for line in ["", *(lines if sizes else lines[:1])])
