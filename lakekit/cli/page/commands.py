"""`lakekit report`: one HTML file about a place."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from lakekit.cli.operate.places import EnvironmentOption, SandboxOption
from lakekit.cli.output import say, why
from lakekit.cli.page.places import gather
from lakekit.cli.read.places import WarehouseOption, Where
from lakekit.cli.sandbox import Data
from lakekit.errors import InvalidStepInputError
from lakekit.warehouse.places import SANDBOX

OUT = Path("lakekit-report.html")


def report(
    warehouse: WarehouseOption = None,
    sandbox: SandboxOption = False,
    environment: EnvironmentOption = None,
    out: Annotated[Path, typer.Option(help="The file to write.")] = OUT,
    data: Data = SANDBOX,
) -> None:
    """Write one HTML file: what needs you, tables, runs, histories, quarantine, lineage.

    It needs no network and no server. It shows values of the tables.

    Example: lakekit report --environment prod --out prod.html
    """
    write_report(Where(warehouse, sandbox, environment, data), out)
    say(f"wrote {out}")


def write_report(where: Where, out: Path) -> None:
    """Write the page of a place to a file, whole or not at all.

    Raises:
        InvalidStepInputError: The place cannot be read, or the file cannot be written.
    """
    if out.is_dir():
        raise InvalidStepInputError(f"--out {out}: is a folder; give the name of a file")
    if not out.parent.is_dir():
        raise InvalidStepInputError(f"--out {out}: there is no folder {out.parent}")
    page = gather(where, datetime.now(UTC))
    # After it: what reads tables comes with the same extra, and says what is not installed.
    from lakekit.page.render import render  # noqa: PLC0415

    html = render(page)
    part = out.with_name(f"{out.name}.part")
    try:
        part.write_text(html, encoding="utf-8")
        part.replace(out)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise InvalidStepInputError(f"--out {out}: {why(error)}") from None
