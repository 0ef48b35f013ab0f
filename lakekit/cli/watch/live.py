"""The live view of an execution: each state with its time, and how far the run is."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from lakekit.aws.executions import RUNNING, Executions
from lakekit.cli.operate.texts import wrapped
from lakekit.cli.output import lines
from lakekit.cli.watch.history import MINOR, History, Visit

# How often the documents of a run are read: each time a few objects.
PROGRESS_SECONDS = 2.0
SHOWN = ("Task", "Fail")


@dataclass(frozen=True)
class Watched:
    """An execution that is watched.

    progress: returns lines of how far it is. logs: the folder of its logs, if they are files here.
    poll_seconds: how often the service is asked.
    """

    executions: Executions
    name: str
    progress: Callable[[], Sequence[str]] = list
    logs: Path | None = None
    poll_seconds: float = 0.2


@dataclass(frozen=True)
class Outcome:
    """How an execution ended."""

    status: str
    seconds: float
    output: object = None
    error: str | None = None
    cause: str | None = None


def watch(watched: Watched, *, console: Console, verbose: bool = False) -> Outcome:
    """Show an execution until it has ended, and return how; verbose shows all of its states."""
    if console.is_terminal:
        spinner = Spinner("dots", style="cyan")
        with Live(console=console, refresh_per_second=8) as live:
            for history, progress in _looks(watched):
                live.update(_table(shown(history, verbose=verbose), spinner, progress))
    else:
        _print_lines(watched, console, verbose)
    history = _history(watched)
    status = watched.executions.status(watched.name)
    details = watched.executions.details(watched.name)
    if status != "SUCCEEDED":
        _print_failure(console, history, status, details.error)
    return Outcome(status, history.seconds, details.output, details.error, details.cause)


def shown(history: History, *, verbose: bool) -> list[Visit]:
    """Return the visits to show: tasks and failures, or all."""
    return [visit for visit in history.visits if verbose or visit.kind in SHOWN]


def _print_lines(watched: Watched, console: Console, verbose: bool) -> None:
    printed, said = 0, ""
    for history, progress in _looks(watched):
        for visit in shown(history, verbose=verbose)[printed:]:
            if visit.running:
                break
            _print_line(console, visit)
            printed += 1
        if progress and (text := "\n".join(progress)) != said:
            said = text
            console.print(Text(lines(text)), highlight=False, soft_wrap=True)


def _looks(watched: Watched) -> Iterator[tuple[History, Sequence[str]]]:
    """Yield history and progress again and again, the last time after the end."""
    progress: Sequence[str] = []
    read_at = 0.0
    while True:
        is_running = watched.executions.status(watched.name) in RUNNING
        if not is_running:
            yield _history(watched), []
            return
        if time.monotonic() - read_at > PROGRESS_SECONDS:
            progress, read_at = watched.progress(), time.monotonic()
        yield _history(watched), progress
        time.sleep(watched.poll_seconds)


def _history(watched: Watched) -> History:
    return History.read(watched.executions.events(watched.name), watched.logs)


def _table(visits: list[Visit], spinner: Spinner, progress: Sequence[str]) -> RenderableType:
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
    return Group(table, *(Text(f"   {lines(each)}", "cyan") for each in progress))


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


def _print_failure(console: Console, history: History, status: str, error: str | None) -> None:
    def say(text: str, style: str = "") -> None:
        console.print(Text(lines(text), style), highlight=False, soft_wrap=True)

    say(f"{status}: {error or 'no error is given'}", "bold red")
    for visit in history.visits:
        if visit.failed:
            say("\n".join(wrapped(f"{visit.state}: {visit.error}: {visit.cause.strip()}")))
            if visit.log:
                say(f"  log: {visit.log}")
