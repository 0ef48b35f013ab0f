"""`lakekit export dbt|odcs|bi` and `lakekit import odcs`."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from lakekit.cli.operate.places import known_environment
from lakekit.cli.output import lines, say, write
from lakekit.cli.project import place
from lakekit.config.load import read_contracts, read_sources
from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.errors import InvalidContractError, InvalidStepInputError
from lakekit.local.warehouse import read_text

export = typer.Typer(help="Contracts in the forms of other tools.", no_args_is_help=True)
take = typer.Typer(help="Contracts from the forms of other tools.", no_args_is_help=True)

Tables = Annotated[list[str] | None, typer.Argument(help="Names of tables; all without.")]
Where = Annotated[str, typer.Option("--environment", help="Whose database has the tables.")]
Maybe = Annotated[
    str | None, typer.Option("--environment", help="Whose database has the table, if any.")
]


@export.command("dbt")
def export_dbt(environment: Where, tables: Tables = None) -> None:
    """Print a sources.yml of dbt: tables, columns, tests, freshness.

    Example: lakekit export dbt --environment dev
    """
    from lakekit.exports.dbt import dbt_sources  # noqa: PLC0415

    found, config = known_environment(environment), place.required().config
    sources = read_sources(config, environment)
    write(dbt_sources(found, sources, _deployed(config, tables, environment, sources)))


@export.command("odcs")
def export_odcs(
    table: Annotated[str, typer.Argument(help="Name of the table.")],
    environment: Maybe = None,
) -> None:
    """Print a contract as a document of the Open Data Contract Standard.

    Example: lakekit export odcs airports
    """
    from lakekit.exports.odcs import odcs_text  # noqa: PLC0415

    (contract,) = _contracts(place.required().config, [table])
    write(odcs_text(contract, known_environment(environment) if environment else None))


@export.command("bi")
def export_bi(environment: Where, tables: Tables = None) -> None:
    """Print notes for Power BI and QuickSight: connection, views, relationships, types.

    Example: lakekit export bi --environment dev
    """
    from lakekit.exports.bi import bi_notes  # noqa: PLC0415

    found = known_environment(environment)
    config = place.required().config
    sources = read_sources(config, environment)
    deployed = _deployed(config, tables, environment, sources)
    write(lines(bi_notes(found, deployed)))


@take.command("odcs")
def import_odcs(
    file: Annotated[Path, typer.Argument(help="A data contract, YAML or JSON.")],
    table: Annotated[str | None, typer.Option(help="Of several tables, the one.")] = None,
    source: Annotated[str | None, typer.Option(help="Name of the source of its records.")] = None,
    path: Annotated[str | None, typer.Option(help="Path of its records in the API.")] = None,
) -> None:
    """Write a contract from a document of the Open Data Contract Standard.

    Prints what is not carried over. A contract that is there is not replaced.

    Example: lakekit import odcs c.yaml --source shop_api --path /customers
    """
    from lakekit.exports.odcs_in import Given  # noqa: PLC0415
    from lakekit.exports.odcs_in import import_odcs as imported  # noqa: PLC0415

    found = imported(read_text(file), Given(table, source, path), name=str(file))
    target = place.required().config / "contracts" / f"{found.contract.contract}.yaml"
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with target.open("x", encoding="utf-8") as written:
            written.write(found.text)
    except FileExistsError:
        raise InvalidContractError(f"{target}: is there already; move it away first") from None
    say(f"wrote {target}")
    if found.notes:
        say("not carried over, or chosen:\n" + "\n".join(f"  {each}" for each in found.notes))


def _deployed(
    config: Path, tables: list[str] | None, environment: str, sources: Sequence[Source]
) -> list[Contract]:
    """Return the contracts of the sources that an environment has."""
    has = {each.source for each in sources}
    found = _contracts(config, tables)
    if tables and (other := [each for each in found if each.source not in has]):
        raise InvalidStepInputError(
            f"{other[0].contract}: its source {other[0].source} is not in {environment}"
        )
    return [each for each in found if each.source in has]


def _contracts(config: Path, tables: list[str] | None) -> list[Contract]:
    found = {each.contract: each for each in read_contracts(config)}
    if not found:
        raise InvalidStepInputError(f"{config / 'contracts'}: no contract is there")
    for name in tables or ():
        if name not in found:
            near = get_close_matches(name, found, n=1)
            asked = f"did you mean {near[0]}? " if near else ""
            raise InvalidStepInputError(
                f"no contract '{name}'; {asked}there are {', '.join(found)}"
            )
    return [found[name] for name in tables] if tables else list(found.values())
