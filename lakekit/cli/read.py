"""The commands that read a local warehouse."""

from typing import TYPE_CHECKING, Annotated

import typer

from lakekit.cli.arguments import parse_time
from lakekit.cli.output import render, write
from lakekit.errors import InvalidStepInputError, SchemaMismatchError
from lakekit.local.warehouse import Form, Warehouse, opened

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Table = Annotated[str, typer.Argument(help="Name of the table.")]


def sql(
    query: Annotated[str, typer.Argument(help="Any Spark SQL.")],
    warehouse: Warehouse,
    form: Form = "table",
) -> None:
    """Run a query over the local warehouse.

    Example: lakekit sql "SELECT count(*) FROM airports" --warehouse warehouse
    """
    with opened(warehouse) as spark:
        _show(spark.sql(query), form)


def history(
    table: Table,
    key: Annotated[list[str], typer.Option(help="column=value; repeat for composite keys.")],
    warehouse: Warehouse,
    form: Form = "table",
) -> None:
    """Show all versions of one key, oldest first.

    Example: lakekit history airports --key icao=EHAM --warehouse warehouse
    """
    from lakekit.sql.identifiers import literal, quote, quote_table  # noqa: PLC0415

    conditions = []
    for pair in key:
        column, equals, value = pair.partition("=")
        if not equals:
            raise InvalidStepInputError(f"--key {pair}: write column=value")
        conditions.append(f"CAST({quote(column)} AS string) = {literal(value)}")
    where = " AND ".join(conditions)
    query = f"SELECT * FROM {quote_table(table)} WHERE {where} ORDER BY _valid_from"
    with opened(warehouse) as spark:
        if "_valid_from" not in spark.table(quote_table(table)).columns:
            raise SchemaMismatchError(f"{table}: no history table; it has no _valid_from")
        _show_versions(spark.sql(query), form)


def as_of(
    table: Table,
    time: Annotated[str, typer.Argument(help="A time with its zone.")],
    warehouse: Warehouse,
    form: Form = "table",
) -> None:
    """Show the rows that were valid at a time.

    Example: lakekit as-of airports 2025-01-01T00:00:00Z --warehouse warehouse
    """
    at = parse_time("TIME", time)
    with opened(warehouse) as spark:
        from lakekit.spark.query import rows_as_of  # noqa: PLC0415

        _show_versions(rows_as_of(spark, table, at), form)


def changes(
    table: Table,
    start: Annotated[str, typer.Argument(metavar="FROM", help="Changes after this time.")],
    end: Annotated[str, typer.Argument(metavar="TO", help="Up to and with this time.")],
    warehouse: Warehouse,
    form: Form = "table",
) -> None:
    """Show what was inserted, updated and deleted between two times.

    Example: lakekit changes airports 2025-01-01T00:00:00Z 2026-01-01T00:00:00Z
    --warehouse warehouse
    """
    from lakekit.sql.queries import refuse_reversed  # noqa: PLC0415

    after, until = parse_time("FROM", start), parse_time("TO", end)
    refuse_reversed(after, until)
    with opened(warehouse) as spark:
        from lakekit.spark.query import changes_between  # noqa: PLC0415

        _show(changes_between(spark, table, after, until), form)


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(sql)
    app.command()(history)
    app.command("as-of")(as_of)
    app.command()(changes)


def _show_versions(frame: "DataFrame", form: str) -> None:
    """Show versions without the digests of their lines, which only a merge can read."""
    from lakekit.sql.line_hash import DIGEST  # noqa: PLC0415

    _show(frame.drop(*DIGEST), form)


def _show(frame: "DataFrame", form: str) -> None:
    from lakekit.spark.schema.display import collect_shown  # noqa: PLC0415

    write(render(*collect_shown(frame), form))
