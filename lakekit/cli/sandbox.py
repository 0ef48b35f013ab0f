"""The commands `lakekit sandbox …`."""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lakekit.cli.folder_lock import held
from lakekit.cli.output import say
from lakekit.cli.project import place
from lakekit.errors import InvalidStepInputError, LakekitError
from lakekit.project import product
from lakekit.project.folder import Project
from lakekit.values import parse_time, to_json
from lakekit.warehouse.places import SANDBOX, STATE

if TYPE_CHECKING:
    from lakekit.cli.watch.feed import Feed

app = typer.Typer(help="AWS on one machine; its data is lost when it stops.", no_args_is_help=True)
# How often the terminal of a sandbox looks for what is new.
LOOK_SECONDS = 1.0
Data = Annotated[Path, typer.Option("--data", help="Folder of logs, templates and the state file.")]
Endpoint = Annotated[str | None, typer.Option(help="Address of a sandbox started elsewhere.")]


@app.command()
def up(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 0,
    cold: Annotated[
        bool, typer.Option("--cold", help="Start a new Spark for every job run.")
    ] = False,
    data: Data = SANDBOX,
    base_url: Annotated[
        list[str] | None, typer.Option(help="source=URL: read a source from another address.")
    ] = None,
    secret: Annotated[
        list[str] | None, typer.Option(help="name=value: put a secret into Secrets Manager.")
    ] = None,
    release: Annotated[str, typer.Option(help="Release that the example API serves.")] = "20240806",
) -> None:
    """Start a sandbox and keep it running until Ctrl-C.

    All its data is in memory.

    Where there is no project, it is that of Lakekit's example, and the example API is served too.

    Example: lakekit sandbox up
    """
    product.require("moto", "cdk,sandbox")
    product.require("aws_cdk", "cdk,sandbox")
    from lakekit.cli.operate.places import where_option  # noqa: PLC0415
    from lakekit.sandbox import Sandbox, SandboxError  # noqa: PLC0415  moto takes its time
    from lakekit.sandbox.template import SynthesisError  # noqa: PLC0415

    # A shell that starts it in the background lets it ignore Ctrl-C.
    for end in (signal.SIGINT, signal.SIGTERM):
        signal.signal(end, _interrupt)
    given, project = _pairs("--base-url", base_url), place.here()
    if project is None:
        project = Project(product.example())
        say(f"no project here; this is Lakekit's example, {project.folder}", err=True)
    _refuse_unknown(given, project)
    folder = place.sandbox_folder(data)
    try:
        with held(folder), _example(project.folder, given, release) as (base_urls, secrets):
            sandbox = Sandbox(
                root=product.root(),
                project=project.folder,
                folder=folder,
                base_urls=base_urls,
                secrets=secrets | project.secrets() | _pairs("--secret", secret),
                cold=cold,
                port=port,
                progress=lambda text: say(f"{text} …", err=True),
            )
            _keep(sandbox, folder, where_option(None, data))
    except KeyboardInterrupt:
        say("stopped before it was ready", err=True)
    except (SandboxError, SynthesisError) as error:
        say(str(error), err=True)
        raise typer.Exit(1) from None


@app.command()
def run(  # noqa: PLR0913, PLR0917  each is an option
    machine: Annotated[
        Literal["load_source", "maintain_tables"],
        typer.Argument(help="load_source or maintain_tables."),
    ],
    source: Annotated[str, typer.Option(help="Name of the source.")],
    extraction_time: Annotated[
        str | None, typer.Option(help="Time of the data instead of now, with its zone.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show all states.")] = False,
    endpoint: Endpoint = None,
    data: Data = SANDBOX,
) -> None:
    """Run a state machine in the sandbox, watch it, and show what came of it.

    The exit code is 1 if it fails. Ctrl-C ends the watching, not the run.

    Example: lakekit sandbox run load_source --source airports_api
    """
    request: dict[str, Any] = {"source": source}
    if extraction_time:
        if machine != "load_source":
            raise InvalidStepInputError("--extraction-time is for load_source")
        request["extraction_time"] = parse_time("--extraction-time", extraction_time).isoformat()
    connection = place.connect_sandbox(endpoint, data)
    # After the checks that need no boto3.
    from lakekit.cli.operate.places import sandbox_place, where_option  # noqa: PLC0415
    from lakekit.cli.watch.show import show_run  # noqa: PLC0415

    execution = connection.start(machine, request)
    found = show_run(
        sandbox_place(connection),
        machine,
        execution.name,
        where=where_option(None, data),
        as_json=as_json,
        verbose=verbose,
        logs=connection.folder / "logs",
    )
    if as_json:
        say(to_json(found))
    if found["status"] != "SUCCEEDED":
        raise typer.Exit(1)


@app.command()
def secret(
    pair: Annotated[str, typer.Argument(metavar="NAME=VALUE", help="Its name and new value.")],
    endpoint: Endpoint = None,
    data: Data = SANDBOX,
) -> None:
    """Put a secret into a sandbox that runs; the next call to a source reads it.

    Example: lakekit sandbox secret lakekit/dev/shop_api=k-123
    """
    (named,) = _pairs("NAME=VALUE:", [pair]).items()
    name, value = named
    client = place.connect_sandbox(endpoint, data).client("secretsmanager")
    try:
        client.put_secret_value(SecretId=name, SecretString=value)
        say(f"secret {name}: changed")
    except client.exceptions.ResourceNotFoundException:
        client.create_secret(Name=name, SecretString=value)
        say(f"secret {name}: made")


@contextmanager
def _example(
    project: Path, base_urls: dict[str, str], release: str
) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Serve the example API, unless its source is elsewhere or removed; add its secret."""
    example = product.example_api()
    secrets = product.example_secrets(project, example.API_KEY)
    if secrets is None or product.EXAMPLE in base_urls:
        yield base_urls, {}
        return
    try:
        server = example.AirportsServer(release)
    except ValueError as error:
        raise InvalidStepInputError(f"--release: {error}") from None
    with server as api:
        other = f"curl -X PUT -d 20250909 {api.address}/release"
        say(f"example API at {api.address}, release {release}; another: {other}", err=True)
        yield base_urls | {product.EXAMPLE: api.address}, secrets


def _refuse_unknown(base_urls: dict[str, str], project: Project) -> None:
    """Raise if an address is given for a source that the project does not have."""
    from lakekit.config.load import read_sources  # noqa: PLC0415  takes its time

    known = [each.source for each in read_sources(project.config)] if base_urls else []
    for name in base_urls:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
            raise InvalidStepInputError(f"--base-url {name}: there is no such source; {hint}")


def _keep(sandbox: Any, folder: Path, where: str) -> None:
    """Run until Ctrl-C, or until the sandbox ends by itself; say what happens meanwhile."""
    from lakekit.cli.operate.places import sandbox_place  # noqa: PLC0415
    from lakekit.cli.watch.feed import Feed  # noqa: PLC0415
    from lakekit.sandbox import SandboxError  # noqa: PLC0415

    state, logs = folder / STATE, sandbox.folder / "logs"
    feed = None
    try:
        with sandbox:
            state.write_text(json.dumps({"endpoint": sandbox.endpoint, "pid": os.getpid()}))
            _greet(sandbox)
            log = logs / "functions" / f"{sandbox.names['functions']['route_file']}.log"
            feed = Feed(sandbox_place(sandbox), log, where)
            while sandbox.alive:
                _say_news(feed)
                time.sleep(LOOK_SECONDS)
            raise SandboxError(f"the sandbox ended; see {logs / 'server.log'}")
    except KeyboardInterrupt:
        if feed is None:
            raise
        for name in feed.running:
            say(f"run {name} was at work and is stopped", err=True)
        say(f"the sandbox is stopped; its data is lost, its logs are in {logs}", err=True)
    finally:
        state.unlink(missing_ok=True)


def _say_news(feed: "Feed") -> None:
    """Say what is new; what cannot be read must not end a sandbox."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415  takes its time

    try:
        for line in feed.news():
            say(line, err=True)
    except (LakekitError, BotoCoreError, ClientError) as error:
        if (fault := str(error)) not in feed.faults:
            feed.faults.add(fault)
            say(f"what is new cannot be read: {fault}", err=True)


def _greet(sandbox: Any) -> None:
    say(f"sandbox at {sandbox.endpoint}, logs in {sandbox.folder / 'logs'}", err=True)
    say(
        "Its data is in memory. Ctrl-C stops it. It shows runs and files at the inbox. "
        "Its variables:\n",
        err=True,
    )
    for name, value in sandbox.environment.items():
        say(f"export {name}={value}")
    sys.stdout.flush()


def _pairs(option: str, given: list[str] | None) -> dict[str, str]:
    pairs = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise InvalidStepInputError(f"{option} needs name=value")
        pairs[name] = value
    return pairs


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt
