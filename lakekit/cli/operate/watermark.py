"""`lakekit watermark show` and `set`."""

from typing import Annotated

import typer

from lakekit.cli.formats import FormatOption
from lakekit.cli.operate import texts
from lakekit.cli.operate.commands import show_all
from lakekit.cli.operate.places import EnvironmentOption, JsonOption, SandboxOption, opened
from lakekit.cli.output import say
from lakekit.cli.project import place as place_of_project
from lakekit.cli.sandbox import Data
from lakekit.config.load import read_contracts
from lakekit.contract.contract import Contract
from lakekit.landing.watermark import set_watermark
from lakekit.operate.watermarks import (
    TableWatermark,
    contract_named,
    table_watermarks,
    watermark_of,
)
from lakekit.values import to_json
from lakekit.warehouse.places import SANDBOX

app = typer.Typer(help="Where the next run of an incremental table begins.", no_args_is_help=True)
TableArgument = Annotated[str, typer.Argument(metavar="SOURCE.TABLE", help="The table.")]
OptionalTable = Annotated[
    str | None, typer.Argument(metavar="SOURCE.TABLE", help="Only this table.")
]
ValueArgument = Annotated[
    str, typer.Argument(metavar="VALUE", help="A time such as 2026-01-01T00:00:00Z, or the value.")
]


@app.command()
def show(
    table: OptionalTable = None,
    environment: EnvironmentOption = None,
    sandbox: SandboxOption = False,
    form: FormatOption = "table",
    data: Data = SANDBOX,
) -> None:
    """Show where the next run of each incremental table begins, and why there.

    Example: lakekit watermark show shop_api.orders --environment prod
    """
    contracts = _contracts()
    if table is not None:
        contracts = (contract_named(contracts, table),)
    with opened(environment, sandbox, data) as place:
        found = table_watermarks(place.flow.store, contracts)
    show_all(TableWatermark, found, texts.watermarks_text, form)


@app.command("set")
def set_value(
    table: TableArgument,
    value: ValueArgument,
    environment: EnvironmentOption = None,
    sandbox: SandboxOption = False,
    as_json: JsonOption = False,
    data: Data = SANDBOX,
) -> None:
    r"""Let the next run of a table begin at a value, also at an earlier one.

    Runs that are on their way neither undo it nor pass over what is between.

    Example:
    lakekit watermark set shop_api.orders 2026-01-01T00:00:00Z \
      --environment prod
    """
    contract = contract_named(_contracts(), table)
    with opened(environment, sandbox, data) as place:
        flow = place.flow
        done = set_watermark(flow.store, contract, value, place.person, flow.clock())
    found = watermark_of(contract, done)
    say(to_json(found.model_dump(mode="json")) if as_json else texts.watermarks_text([found]))


def _contracts() -> tuple[Contract, ...]:
    return read_contracts(place_of_project.required().config)
