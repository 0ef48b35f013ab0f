"""The live view of an execution: each state with its time."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from lakekit.cli.history import MINOR, History, Visit
from lakekit.cli.output import lines
from lakekit.sandbox.connection import Connection, Execution, Outcome

POLL_SECONDS = 0.2


def watch(
    connection: Connection, execution: Execution, *, console: Console, brief: bool = False
) -> Outcome:
    """Show an execution until it has ended, and return how; brief shows no state but tasks."""
    if console.is_terminal:
        spinner = Spinner("dots", style="cyan")
        with Live(console=console, refresh_per_second=8) as live:
            for history in _histories(connection, execution):
                live.update(_table(shown(history, brief=brief), spinner))
    else:
        printed = 0
        for history in _histories(connection, execution):
            for visit in shown(history, brief=brief)[printed:]:
                if visit.running:
                    break
                _print_line(console, visit)
                printed += 1
    outcome = connection.wait(execution)
    if outcome.status != "SUCCEEDED":
        _print_failure(console, history, outcome)
    return outcome


def shown(history: History, *, brief: bool) -> list[Visit]:
    """Return the visits to show."""
    return [visit for visit in history.visits if visit.kind == "Task" or not brief]


def _histories(connection: Connection, execution: Execution) -> Iterator[History]:
    """Yield the history again and again, the last time after the end."""
    client = connection.client("stepfunctions")
    while True:
        status = client.describe_execution(executionArn=execution.arn)["status"]
        events = client.get_execution_history(executionArn=execution.arn)["events"]
        yield History.read(events, connection.folder / "logs")
        if status != "RUNNING":
            return
        time.sleep(POLL_SECONDS)


def _table(visits: list[Visit], spinner: Spinner) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=1)
    table.add_column()
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    for visit in visits:
        style = "dim" if visit.kind in MINOR else ""
        table.add_row(
            _mark(visit, spinner), Text(visit.state, style), _seconds(visit), _detail(visit)
        )
    return Group(table)


def _mark(visit: Visit, spinner: Spinner) -> RenderableType:
    if visit.running:
        return spinner
    if visit.failed or visit.kind == "Fail":
        return Text("✗", "bold red")
    return Text("✓", "dim" if visit.kind in MINOR else "green")


def _seconds(visit: Visit) -> Text:
    style = "dim" if visit.kind in MINOR else ""
    return Text(f"{visit.seconds(datetime.now(UTC)):.1f} s", style)


def _detail(visit: Visit) -> Text:
    text = Text()
    text.append(lines(visit.about), "dim")
    if not visit.attempts:
        return text
    again = f" (attempt {visit.attempts})" if visit.attempts > 1 else ""
    said = ""
    if visit.running:
        said = "retries after "
    elif not visit.failed:
        said = "recovered from "
    text.append("  " if visit.about else "")
    return text.append(lines(f"{said}{visit.error}{again}"), "yellow" if said else "red")


def _print_line(console: Console, visit: Visit) -> None:
    mark = "failed" if visit.failed or visit.kind == "Fail" else "done"
    line = f"{mark:<7}{visit.state:<24}{_seconds(visit).plain:>8}  {_detail(visit).plain}"
    console.print(line.rstrip(), highlight=False, markup=False, soft_wrap=True)


def _print_failure(console: Console, history: History, outcome: Outcome) -> None:
    def say(text: str, style: str = "") -> None:
        console.print(Text(lines(text), style), highlight=False, soft_wrap=True)

    say(f"{outcome.status}: {outcome.error or 'no error is given'}", "bold red")
    for visit in history.visits:
        if visit.failed:
            say(f"{visit.state}: {visit.error}: {visit.cause.strip()}")
            if visit.log:
                say(f"  log: {visit.log}")
