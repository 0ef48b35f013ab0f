"""`lakekit runs`, `landings`, `status`, `approve`, `reject` and `retry`."""

from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from lakekit.cli.formats import FormatOption
from lakekit.cli.operate import texts
from lakekit.cli.operate.places import (
    EnvironmentOption,
    JsonOption,
    SandboxOption,
    SourceOption,
    opened,
)
from lakekit.cli.output import say, show
from lakekit.cli.sandbox import Data
from lakekit.errors import InvalidStepInputError
from lakekit.models import Model
from lakekit.operate.decide import Decided, approve_landing, reject_landing, retry_landings
from lakekit.operate.find import find_landing, find_landings
from lakekit.operate.landings import (
    Landing,
    State,
    Waiting,
    describe_landing,
    waiting_landings,
)
from lakekit.operate.runs import RecentRun, recent_runs
from lakekit.operate.status import TableStatus, table_status
from lakekit.values import to_json
from lakekit.warehouse.places import SANDBOX

Shown = TypeVar("Shown", bound=Model)
LandingArgument = Annotated[
    list[str],
    typer.Argument(metavar="LANDING", help="Manifest's key, table and time, or run id."),
]
OptionalLanding = Annotated[
    list[str] | None, typer.Argument(metavar="[LANDING]", help="Show this one, with all details.")
]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; it is kept with the landing.")]


def runs(
    environment: EnvironmentOption = None,
    sandbox: SandboxOption = False,
    source: SourceOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 10,
    form: FormatOption = "table",
    data: Data = SANDBOX,
) -> None:
    """Show recent runs, the newest first: how each ended, how long it took, its tables.

    Runs of one source are looked for among the newest 1,000.

    Example: lakekit runs --source shop_api --environment prod
    """
    with opened(environment, sandbox, data) as place:
        store, now = place.flow.store, place.flow.clock()
        found = recent_runs(store, place.log, now, limit=limit, source=source)
    _show_all(RecentRun, found, texts.runs_text, form)


def landings(  # noqa: PLR0913, PLR0917  each is an option
    landing: OptionalLanding = None,
    environment: EnvironmentOption = None,
    sandbox: SandboxOption = False,
    pending: Annotated[
        bool, typer.Option("--pending", help="Only those that wait for a run.")
    ] = False,
    blocked: Annotated[
        bool, typer.Option("--blocked", help="Only those that wait for a person.")
    ] = False,
    source: SourceOption = None,
    form: FormatOption = "table",
    data: Data = SANDBOX,
) -> None:
    """Show the landings that wait for a run or a person; or all that is known of one.

    Example: lakekit landings --blocked --environment prod

    Example: lakekit landings customers 20260101_060000 --environment prod
    """
    if landing and (pending or blocked or source):
        raise InvalidStepInputError("give a LANDING, or options that choose among all")
    states: tuple[State, ...] = ("blocked", "pending")
    if pending != blocked:
        states = ("pending",) if pending else ("blocked",)
    with opened(environment, sandbox, data) as place:
        store = place.flow.store
        if landing:
            one = describe_landing(store, find_landing(store, landing))
            where = f"--environment {environment}" if environment else "--sandbox"
            _show_all(Landing, [one], lambda _: texts.landing_text(one, where), form)
            return
        found = [*waiting_landings(store, states, source)]
    _show_all(Waiting, found, texts.landings_text, form)


def status(
    environment: EnvironmentOption = None,
    sandbox: SandboxOption = False,
    source: SourceOption = None,
    form: FormatOption = "table",
    data: Data = SANDBOX,
) -> None:
    """Show of each table what waits, who holds it, when it is tried again, what it has.

    Example: lakekit status --environment prod
    """
    with opened(environment, sandbox, data) as place:
        found = table_status(place.flow, source)
    _show_all(TableStatus, found, texts.status_text, form)


def approve(
    landing: LandingArgument,
    reason: ReasonOption,
    environment: EnvironmentOption = None,
    sandbox: SandboxOption = False,
    as_json: JsonOption = False,
    data: Data = SANDBOX,
) -> None:
    """Let one landing pass the guards against mass deletes and rejected records.

    Then a run starts that merges it. Other landings are guarded as before.

    Example: lakekit approve customers 20260101_060000 --reason "shops were closed"
    --environment prod
    """
    with opened(environment, sandbox, data) as place:
        manifest = find_landing(place.flow.store, landing)
        _show(approve_landing(place.flow, manifest, reason, place.person), as_json)


def reject(
    landing: LandingArgument,
    reason: ReasonOption,
    environment: EnvironmentOption = None,
    sandbox: SandboxOption = False,
    as_json: JsonOption = False,
    data: Data = SANDBOX,
) -> None:
    """Never merge a landing. Its objects stay.

    If others waited for it, a run starts that merges them.

    Example: lakekit reject customers 20260101_060000 --reason "half a file"
    --environment prod
    """
    with opened(environment, sandbox, data) as place:
        manifest = find_landing(place.flow.store, landing)
        _show(reject_landing(place.flow, manifest, reason, place.person), as_json)


def retry(
    landing: LandingArgument,
    environment: EnvironmentOption = None,
    sandbox: SandboxOption = False,
    as_json: JsonOption = False,
    data: Data = SANDBOX,
) -> None:
    """Try a landing again, by the contract that is deployed now; of a run, all that wait.

    Example: lakekit retry customers 20260101_060000 --environment prod
    """
    with opened(environment, sandbox, data) as place:
        manifests = find_landings(place.flow.store, landing)
        _show(retry_landings(place.flow, manifests, place.person), as_json)


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (runs, landings, status, approve, reject, retry):
        app.command()(command)


def _show_all(
    kind: type[Shown], found: list[Shown], text: Callable[[list[Shown]], str], form: str
) -> None:
    """Show rows of one kind: for people as the text of their own, else by their fields."""
    if form == "table":
        say(text(found))
        return
    rows = (tuple(each.model_dump(mode="json").values()) for each in found)
    show(list(kind.model_fields), rows, form)


def _show(decided: Decided, as_json: bool) -> None:
    say(to_json(decided.model_dump(mode="json")) if as_json else texts.decided_text(decided))
