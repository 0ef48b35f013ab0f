"""`lakekit backfill`."""

import time
from typing import Annotated

import typer

from lakekit.cli.operate.places import EnvironmentOption, SandboxOption, opened
from lakekit.cli.output import say
from lakekit.cli.project import place as place_of_project
from lakekit.cli.sandbox import Data
from lakekit.config.load import read_contracts
from lakekit.errors import InvalidStepInputError, UnknownSourceError
from lakekit.operate.backfill import Backfill, Chunk, run_backfill
from lakekit.runs.start_run import backfill_fault
from lakekit.values import parse_time
from lakekit.warehouse.places import SANDBOX


def backfill(  # noqa: PLR0913, PLR0917  each is an option
    source: Annotated[str, typer.Option("--source", help="Of this source.")],
    begin: Annotated[str, typer.Option("--from", help="The start, with its zone.")],
    until: Annotated[str, typer.Option("--to", help="The end, which is not asked for.")],
    endpoint: Annotated[
        list[str] | None, typer.Option("--endpoint", help="Only this table; may be repeated.")
    ] = None,
    parallel: Annotated[int, typer.Option(min=1, max=10, help="Runs at a time.")] = 1,
    environment: EnvironmentOption = None,
    sandbox: SandboxOption = False,
    data: Data = SANDBOX,
) -> None:
    """Ask for a time of the past again, window by window, the oldest first.

    Each window is a run. The same command again goes on where it stopped.

    Example: lakekit backfill --source shop_api --from 2024-01-01T00:00:00Z
    --to 2024-03-01T00:00:00Z --environment prod
    """
    asked = _backfill(source, tuple(endpoint or ()), begin, until)
    with opened(environment, sandbox, data) as place:
        if asked.end > place.flow.clock():
            raise InvalidStepInputError(f"--to {until}: is in the future")
        whole = run_backfill(asked, place.flow, parallel=parallel, sleep=time.sleep, report=_report)
    if not whole:
        say("a run failed; see lakekit runs, and call this again to go on", err=True)
        raise typer.Exit(1)


def _backfill(source: str, names: tuple[str, ...], begin: str, until: str) -> Backfill:
    known = {
        each.contract: each for each in read_contracts(place_of_project.required().config, source)
    }
    if unknown := [name for name in names if name not in known]:
        raise UnknownSourceError(f"{source}: the project's folder has no contract {unknown[0]}")
    chosen = names or tuple(name for name, each in known.items() if not backfill_fault(each))
    if not chosen:
        raise InvalidStepInputError(f"{source}: no table of it can be backfilled")
    lengths = []
    for name in chosen:
        if fault := backfill_fault(known[name]):
            raise InvalidStepInputError(f"{name}: {fault}")
        incremental = known[name].endpoint.incremental
        if incremental and incremental.window:
            lengths.append(incremental.window.length)
    start, end = parse_time("--from", begin), parse_time("--to", until)
    if start >= end:
        raise InvalidStepInputError("--from must be before --to")
    return Backfill(
        source=source, endpoints=tuple(sorted(chosen)), start=start, end=end, length=max(lengths)
    )


def _report(chunk: Chunk) -> None:
    say(f"{chunk.state:<8} {chunk.start:%Y-%m-%dT%H:%M:%SZ}  {chunk.run_id}")
