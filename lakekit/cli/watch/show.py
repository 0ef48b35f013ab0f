"""Shows a run until its end, and then what came of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.text import Text

from lakekit.cli.output import lines, say, write
from lakekit.cli.watch.live import Outcome, Watched, watch
from lakekit.cli.watch.texts import (
    duration,
    maintenance_lines,
    outcome_lines,
    progress_lines,
)
from lakekit.errors import InvalidStepInputError
from lakekit.operate.run_report import report_maintenance, report_run

if TYPE_CHECKING:
    from lakekit.aws.place import Place

_STATUS = {"SUCCEEDED": "done", "FAILED": "failed", "ABORTED": "stopped", "TIMED_OUT": "timed out"}


def machine_of(place: "Place", name: str) -> str:
    """Return the state machine that has a run.

    Raises:
        InvalidStepInputError: None has it.
    """
    for machine, executions in place.machines.items():
        try:
            executions.status(name)
        except InvalidStepInputError:
            continue
        return machine
    raise InvalidStepInputError(f"there is no run {name}; lakekit runs lists those there are")


def show_run(  # noqa: PLR0913  options by name
    place: "Place",
    machine: str,
    name: str,
    *,
    where: str,
    as_json: bool = False,
    verbose: bool = False,
    logs: Path | None = None,
) -> dict[str, Any]:
    """Show a run until its end, and what came of it; return that for a program.

    Args:
        place: Where it is.
        machine: Its state machine.
        name: Its id.
        where: The option of commands that names the place.
        as_json: Whether standard output is for a program.
        verbose: Whether to show all of its states.
        logs: The folder of its logs, if they are files here.

    Raises:
        typer.Exit: The person does not want to watch any longer; the run goes on.
    """
    store, is_load = place.flow.store, machine == "load_source"
    console = Console(stderr=as_json)
    watched = Watched(
        place.machines[machine],
        name,
        (lambda: progress_lines(report_run(store, name))) if is_load else list,
        logs,
        0.2 if logs else 2.0,
    )
    try:
        outcome = watch(watched, console=console, verbose=verbose)
    except KeyboardInterrupt:
        say(f"run {name} goes on. To watch it again:", err=True)
        # A command is copied, so that it is not broken.
        write(f"  lakekit runs watch {name} {where}\n", err=True)
        raise typer.Exit(130) from None
    if is_load:
        report = report_run(store, name)
        found: Any = report.model_dump(mode="json")
        said = outcome_lines(report, where)
    else:
        results = report_maintenance(store, name)
        found = {"tables": [each.model_dump(mode="json") for each in results]}
        said = maintenance_lines(results)
    word = _word(outcome)
    for line in [*said, f"run {name}: {word} in {duration(outcome.seconds)}"]:
        console.print(Text(lines(line)), highlight=False, soft_wrap=True)
    about = {"status": outcome.status, "output": outcome.output, "error": outcome.error}
    return {"execution": name, **about, "cause": outcome.cause, "report": found}


def _word(outcome: Outcome) -> str:
    output = outcome.output if isinstance(outcome.output, dict) else {}
    is_deferred = (output.get("completed") or {}).get("outcome") == "deferred"
    return "deferred" if is_deferred else _STATUS.get(outcome.status, outcome.status)
