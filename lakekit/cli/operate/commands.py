"""`lakekit runs`, `landings`, `status`, `approve`, `reject` and `retry`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from lakekit.cli.formats import FormatOption
from lakekit.cli.operate import texts
from lakekit.cli.operate.places import (
    EnvironmentOption,
    JsonOption,
    SandboxOption,
    SourceOption,
    here,
    opened,
    where_option,
)
from lakekit.cli.output import say, show
from lakekit.cli.project.place import sandbox_folder
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

if TYPE_CHECKING:
    from lakekit.aws.place import Place

Shown = TypeVar("Shown", bound=Model)
LandingArgument = Annotated[
    list[str],
    typer.Argument(metavar="LANDING", help="Manifest's key, table and time, or run id."),
]
OptionalLanding = Annotated[
    list[str] | None, typer.Argument(metavar="LANDING", help="Show this one, with all details.")
]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; it is kept with the landing.")]


def runs(  # noqa: PLR0913, PLR0917  each is an option
    context: typer.Context,
    environment: EnvironmentOption = None,
    sandbox: SandboxOption = False,
    source: SourceOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 10,
    form: FormatOption = "table",
    data: Data = SANDBOX,
) -> None:
    """Show recent runs, the newest first: how each ended, how long it took, its tables.

    `lakekit runs watch` shows one of them, with what came of it.

    Runs of one source are looked for among the newest 1,000.

    Example: lakekit runs --source shop_api --environment prod
    """
    if context.invoked_subcommand:
        return
    with opened(environment, sandbox, data) as place:
        store, now = place.flow.store, place.flow.clock()
        found = recent_runs(store, place.log, now, limit=limit, source=source)
    show_all(RecentRun, found, texts.runs_text, form)


def watch(  # noqa: PLR0913, PLR0917  each is an option
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="Its id, instead of the newest.")
    ] = None,
    environment: EnvironmentOption = None,
    sandbox: SandboxOption = False,
    source: SourceOption = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show all states.")] = False,
    as_json: JsonOption = False,
    data: Data = SANDBOX,
) -> None:
    """Watch a run until its end, and show what came of it; one that has ended at once.

    The exit code is 1 if it fails. Ctrl-C ends the watching, not the run.

    Example: lakekit runs watch --source shop_api --environment prod
    """
    from lakekit.cli.watch.show import machine_of, show_run  # noqa: PLC0415  boto3 takes its time

    if run and source:
        raise InvalidStepInputError("give a RUN or --source, not both")
    if here(environment, sandbox):
        raise InvalidStepInputError(
            "a local run is shown by `lakekit run` itself; to watch another one, give "
            "--environment NAME or --sandbox"
        )
    with opened(environment, sandbox, data) as place:
        name = run.rpartition(":")[2] if run else _newest(place, source)
        found = show_run(
            place,
            machine_of(place, name),
            name,
            where=where_option(environment, data),
            as_json=as_json,
            verbose=verbose,
            logs=None if environment else sandbox_folder(data) / "logs",
        )
    if as_json:
        say(to_json(found))
    if found["status"] != "SUCCEEDED":
        raise typer.Exit(1)


def _newest(place: "Place", source: str | None) -> str:
    """Return the newest run; one that is at work first."""
    found = recent_runs(place.flow.store, place.log, place.flow.clock(), limit=20, source=source)
    if not found:
        raise InvalidStepInputError("there are no runs" + (f" of {source}" if source else ""))
    running = [each for each in found if each.outcome == "running"]
    return (running or found)[0].run_id


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
            where = where_option(environment, data) if environment or sandbox else ""
            show_all(Landing, [one], lambda _: texts.landing_text(one, where), form)
            return
        found = [*waiting_landings(store, states, source)]
    show_all(Waiting, found, texts.landings_text, form)


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
    show_all(TableStatus, found, texts.status_text, form)


def approve(
    landing: LandingArgument,
    reason: ReasonOption,
    environment: EnvironmentOption = None,
    sandbox: SandboxOption = False,
    as_json: JsonOption = False,
    data: Data = SANDBOX,
) -> None:
    r"""Let one landing pass the guards against mass deletes and rejected records.

    Then a run starts that merges it. Other landings are guarded as before.

    Example:
    lakekit approve customers 20260101_060000 --reason "shops were closed" \
      --environment prod
    """
    with opened(environment, sandbox, data) as place:
        manifest = find_landing(place.flow.store, landing)
        _show(
            approve_landing(place.flow, manifest, reason, place.person),
            as_json,
            here(environment, sandbox),
        )


def reject(
    landing: LandingArgument,
    reason: ReasonOption,
    environment: EnvironmentOption = None,
    sandbox: SandboxOption = False,
    as_json: JsonOption = False,
    data: Data = SANDBOX,
) -> None:
    r"""Never merge a landing. Its objects stay.

    If others waited for it, a run starts that merges them.

    Example:
    lakekit reject customers 20260101_060000 --reason "half a file" \
      --environment prod
    """
    with opened(environment, sandbox, data) as place:
        manifest = find_landing(place.flow.store, landing)
        _show(
            reject_landing(place.flow, manifest, reason, place.person),
            as_json,
            here(environment, sandbox),
        )


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
        _show(
            retry_landings(place.flow, manifests, place.person), as_json, here(environment, sandbox)
        )


run_group = typer.Typer()
run_group.callback(invoke_without_command=True)(runs)
run_group.command()(watch)


def show_all(
    kind: type[Shown], found: list[Shown], text: Callable[[list[Shown]], str], form: str
) -> None:
    """Show rows of one kind: for people as the text of their own, else by their fields."""
    if form == "table":
        say(text(found))
        return
    rows = (tuple(each.model_dump(mode="json").values()) for each in found)
    show(list(kind.model_fields), rows, form)


def _show(decided: Decided, as_json: bool, is_here: bool) -> None:
    text = texts.decided_text(decided, here=is_here)
    say(to_json(decided.model_dump(mode="json")) if as_json else text)
