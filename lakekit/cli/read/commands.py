"""`lakekit tables`, `describe`, `history`, `as-of`, `changes` and `sql`."""

from typing import Annotated, Literal

import typer

from lakekit.cli.formats import FormatOption
from lakekit.cli.operate.places import EnvironmentOption, SandboxOption
from lakekit.cli.output import say, show
from lakekit.cli.read import views
from lakekit.cli.read.places import WarehouseOption, Where, opened, resolved
from lakekit.cli.sandbox import Data
from lakekit.duckdb import overview
from lakekit.errors import InvalidStepInputError
from lakekit.sql.queries import refuse_reversed
from lakekit.values import parse_time
from lakekit.warehouse.places import SANDBOX

Table = Annotated[str, typer.Argument(help="Name of the table.")]
AllOption = Annotated[
    bool, typer.Option("--all", help="Technical columns too, such as digests and files.")
]
LimitOption = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="At most so many rows, 0 for all; a terminal shows 100."),
]


def tables(
    warehouse: WarehouseOption = None,
    sandbox: SandboxOption = False,
    environment: EnvironmentOption = None,
    form: FormatOption = "table",
    data: Data = SANDBOX,
) -> None:
    """List the tables: what each is, its rows, those that are current, its last commit.

    Example: lakekit tables --warehouse warehouse
    """
    with opened(Where(warehouse, sandbox, environment, data)) as reader:
        found = reader.tables()
        show(*overview.listed(found, reader.count(found)), form, limit=0)
        if not found:
            say("no tables yet", err=True)


def describe(  # noqa: PLR0913, PLR0917  each is an option
    table: Table,
    warehouse: WarehouseOption = None,
    sandbox: SandboxOption = False,
    environment: EnvironmentOption = None,
    form: FormatOption = "table",
    every: AllOption = False,
    data: Data = SANDBOX,
) -> None:
    """Show the columns of a table: their types, what each is, its description.

    Example: lakekit describe airports --warehouse warehouse
    """
    with opened(Where(warehouse, sandbox, environment, data)) as reader:
        found = reader.table(table)
        if form == "table":
            (counts,) = reader.count([found])
            say(overview.summary(found, counts))
        show(*overview.described(found, every=every), form, limit=0)


def history(  # noqa: PLR0913, PLR0917  each is an option
    table: Table,
    key: Annotated[list[str], typer.Option(help="column=value; repeat for composite keys.")],
    warehouse: WarehouseOption = None,
    sandbox: SandboxOption = False,
    environment: EnvironmentOption = None,
    form: FormatOption = "table",
    every: AllOption = False,
    limit: LimitOption = None,
    data: Data = SANDBOX,
) -> None:
    """Show all versions of one key, oldest first.

    Example: lakekit history airports --key icao=EHAM --warehouse warehouse
    """
    values = {}
    for pair in key:
        column, equals, value = pair.partition("=")
        if not equals:
            raise InvalidStepInputError(f"--key {pair}: write column=value")
        values[column] = value
    with opened(Where(warehouse, sandbox, environment, data)) as reader:
        versions = views.versions(reader.history(table, values), every=every)
        show(*versions, form, limit)


def as_of(  # noqa: PLR0913, PLR0917  each is an option
    table: Table,
    time: Annotated[str, typer.Argument(help="A time with its zone.")],
    warehouse: WarehouseOption = None,
    sandbox: SandboxOption = False,
    environment: EnvironmentOption = None,
    form: FormatOption = "table",
    every: AllOption = False,
    limit: LimitOption = None,
    data: Data = SANDBOX,
) -> None:
    """Show the rows that were valid at a time.

    Example: lakekit as-of airports 2025-01-01T00:00:00Z --warehouse warehouse
    """
    at = parse_time("TIME", time)
    with opened(Where(warehouse, sandbox, environment, data)) as reader:
        show(*views.versions(reader.as_of(table, at), every=every), form, limit)


def changes(  # noqa: PLR0913, PLR0917  each is an option
    table: Table,
    start: Annotated[str, typer.Argument(metavar="FROM", help="Changes after this time.")],
    end: Annotated[str, typer.Argument(metavar="TO", help="Up to and with this time.")],
    warehouse: WarehouseOption = None,
    sandbox: SandboxOption = False,
    environment: EnvironmentOption = None,
    form: FormatOption = "table",
    every: AllOption = False,
    limit: LimitOption = None,
    data: Data = SANDBOX,
) -> None:
    r"""Show what was inserted, updated and deleted between two times: old → new.

    Example:
    lakekit changes airports 2025-01-01T00:00:00Z 2026-01-01T00:00:00Z \
      --warehouse warehouse
    """
    after, until = parse_time("FROM", start), parse_time("TO", end)
    refuse_reversed(after, until)
    with opened(Where(warehouse, sandbox, environment, data)) as reader:
        found = reader.changes(table, after, until)
        show(*views.changes(found, reader.table(table).keys, every=every), form, limit)


def sql(  # noqa: PLR0913, PLR0917  each is an option
    query: Annotated[str, typer.Argument(help="A query in DuckDB's SQL.")],
    warehouse: WarehouseOption = None,
    sandbox: SandboxOption = False,
    environment: EnvironmentOption = None,
    form: FormatOption = "table",
    limit: LimitOption = None,
    engine: Annotated[
        Literal["duckdb", "spark"],
        typer.Option(help="spark takes any Spark SQL, but starts slowly; a local warehouse only."),
    ] = "duckdb",
    data: Data = SANDBOX,
) -> None:
    """Query the tables by their names.

    Example: lakekit sql "SELECT count(*) FROM airports" --warehouse warehouse
    """
    where = Where(warehouse, sandbox, environment, data)
    if engine == "spark":
        _sql_of_spark(query, where, form, limit)
        return
    with opened(where) as reader:
        found = reader.sql(query)
        show(found.columns, found.rows, form, limit)


def _sql_of_spark(query: str, where: Where, form: str, limit: int | None) -> None:
    from lakekit.local import warehouse  # noqa: PLC0415

    found = resolved(where).warehouse
    if found is None:
        raise InvalidStepInputError(
            "--engine spark reads a local warehouse; give --warehouse FOLDER"
        )
    with warehouse.opened(found) as spark:
        from lakekit.spark.schema.display import collect_shown  # noqa: PLC0415

        show(*collect_shown(spark.sql(query)), form, limit)
