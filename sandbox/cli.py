"""The command line `lakekit`."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from lakekit.contracts import Contract, load_contract
from lakekit.errors import InvalidContractError, InvalidStepInputError, LakekitError
from lakekit.models import parse_yaml
from lakekit.sources import load_source
from sandbox import commands_sandbox
from sandbox.arguments import make_batch, pair_runs, spread_inputs
from sandbox.output import render

app = typer.Typer(
    help="REST sources and files into Iceberg tables with exact SCD2 history.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(commands_sandbox.app, name="sandbox")
Warehouse = Annotated[Path, typer.Option(help="Folder of the local warehouse.")]
Form = Annotated[Literal["table", "ndjson", "csv"], typer.Option("--format", help="Output form.")]


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


@app.command()
def merge(
    contract: Annotated[Path, typer.Option(help="The table's contract.")],
    warehouse: Warehouse,
    input: Annotated[list[Path], typer.Option(help="NDJSON files of a run, .gz too.")],
    at: Annotated[list[str], typer.Option(help="Extraction time of the inputs before it.")],
    extract: Annotated[
        Literal["full", "incremental"] | None, typer.Option(help="Instead of the contract's.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per run.")] = False,
) -> None:
    """Merge NDJSON files into a table of the local warehouse, one run per --at.

    Example: lakekit merge --contract c.yaml --input a.ndjson --at 2026-01-01T00:00:00Z
    --warehouse build/warehouse
    """
    promise = _read_contract(contract)
    kind = extract or promise.endpoint.extract
    if kind == "changes":
        raise InvalidStepInputError(f"{contract}: change extracts are not implemented yet")
    batches = [make_batch(time, files, kind) for time, files in pair_runs(_arguments())]
    from lakekit.spark.scd2 import merge_scd2  # noqa: PLC0415  Spark takes seconds to import
    from lakekit.spark.session import CATALOG, LOCAL_DATABASE, local_session  # noqa: PLC0415

    spark = local_session(warehouse)
    for batch in batches:
        table = f"{CATALOG}.{LOCAL_DATABASE}.{promise.contract}"
        staging = (warehouse / ".staging").resolve()
        result = merge_scd2(spark, promise, batch, table, staging=staging.as_uri())
        shown = {**result.model_dump(), "table": promise.contract}
        typer.echo(json.dumps(shown) if as_json else _sentence(shown))


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="Any Spark SQL.")],
    warehouse: Warehouse,
    form: Form = "table",
) -> None:
    """Run a query over the local warehouse.

    Example: lakekit sql "SELECT count(*) FROM airports" --warehouse build/warehouse
    """
    _query(query, warehouse, form)


@app.command()
def history(
    table: Annotated[str, typer.Argument(help="Name of the table.")],
    key: Annotated[list[str], typer.Option(help="column=value; repeat for composite keys.")],
    warehouse: Warehouse,
    form: Form = "table",
) -> None:
    """Show all versions of one key, oldest first.

    Example: lakekit history airports --key icao=EHAM --warehouse build/warehouse
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
    _query(query, warehouse, form)


def _query(query: str, warehouse: Path, form: str) -> None:
    if not (warehouse / "catalog.db").is_file():
        raise InvalidStepInputError(f"{warehouse}: no warehouse here; `lakekit merge` makes one")
    from pyspark.errors import PySparkException  # noqa: PLC0415

    from lakekit.spark.session import local_session  # noqa: PLC0415

    try:
        frame = local_session(warehouse).sql(query)
        rows = frame.collect()
    except PySparkException as error:
        raise InvalidStepInputError(str(error).split("\n", maxsplit=1)[0]) from None
    typer.echo(render(frame.columns, rows, form), nl=False)


def _check_file(file: Path) -> None:
    """Raise what is wrong with a file; its top-level keys say which kind it is."""
    text, name = _read_text(file), str(file)
    is_contract = parse_yaml(text, name=name).keys() & {"contract", "endpoint", "schema"}
    (load_contract if is_contract else load_source)(text, name=name)


def _read_contract(file: Path) -> Contract:
    return load_contract(_read_text(file), name=str(file))


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidContractError(f"{file}: not UTF-8") from None
    except OSError as error:
        raise InvalidContractError(f"{file}: {error.strerror}") from None


def _sentence(r: dict[str, object]) -> str:
    state = f"snapshot {r['snapshot_id']}" if r["committed"] else "nothing to commit"
    return (
        f"{r['table']}: opened {r['opened']}, closed {r['closed']} ({r['deleted']} deleted), "
        f"unchanged {r['unchanged']}, duplicates {r['duplicates']}, "
        f"quarantined {r['quarantined']}; {state}"
    )


def _arguments() -> list[str]:
    return [part for word in _ARGV for part in (word.split("=", 1) if _joined(word) else [word])]


def _joined(word: str) -> bool:
    return word.startswith(("--input=", "--at="))


_ARGV: list[str] = []


@contextmanager
def _faults_as_exit_code() -> Iterator[None]:
    try:
        yield
    except LakekitError as error:
        typer.echo(f"{type(error).__name__}: {error}", err=True)
        sys.exit(1)


def main() -> None:
    """Run the command line."""
    _ARGV[:] = spread_inputs(sys.argv[1:])
    with _faults_as_exit_code():
        app(args=list(_ARGV))
