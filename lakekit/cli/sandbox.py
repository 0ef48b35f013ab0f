"""The commands `lakekit sandbox …`."""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from lakekit.cli.output import say
from lakekit.errors import InvalidStepInputError
from lakekit.values import parse_time, to_json
from lakekit.warehouse.places import SANDBOX, STATE, connect

app = typer.Typer(help="AWS on one machine; its data is lost when it stops.", no_args_is_help=True)
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

    It also serves the example API, unless airports_api gets a --base-url.

    Example: lakekit sandbox up
    """
    from lakekit.sandbox import Sandbox, SandboxError, project  # noqa: PLC0415  moto takes its time
    from lakekit.sandbox.template import SynthesisError  # noqa: PLC0415

    # A shell that starts it in the background lets it ignore Ctrl-C.
    for end in (signal.SIGINT, signal.SIGTERM):
        signal.signal(end, _interrupt)
    given = _pairs("--base-url", base_url)
    try:
        with _example(given, release) as (base_urls, secrets):
            sandbox = Sandbox(
                root=project.root(),
                folder=data,
                base_urls=base_urls,
                secrets=secrets | _pairs("--secret", secret),
                cold=cold,
                port=port,
            )
            _keep(sandbox, data / STATE)
    except KeyboardInterrupt:
        say("stopped; the data is lost", err=True)
    except (SandboxError, SynthesisError) as error:
        say(str(error), err=True)
        raise typer.Exit(1) from None


@app.command()
def run(
    machine: Annotated[
        Literal["load_source", "maintain_tables"],
        typer.Argument(help="load_source or maintain_tables."),
    ],
    source: Annotated[str, typer.Option(help="Name of the source.")],
    extraction_time: Annotated[
        str | None, typer.Option(help="Time of the data instead of now, with its zone.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    endpoint: Endpoint = None,
    data: Data = SANDBOX,
) -> None:
    """Run a state machine in the sandbox and watch it.

    The exit code is 1 if it fails.

    Example: lakekit sandbox run load_source --source airports_api
    """
    request: dict[str, Any] = {"source": source}
    if extraction_time:
        if machine != "load_source":
            raise InvalidStepInputError("--extraction-time is for load_source")
        request["extraction_time"] = parse_time("--extraction-time", extraction_time).isoformat()
    connection = connect(endpoint, data)
    from lakekit.cli.live import watch  # noqa: PLC0415  after the checks that need no boto3

    execution = connection.start(machine, request)
    # With --json, standard output is for the program that reads it.
    outcome = watch(connection, execution, console=Console(stderr=as_json))
    if as_json:
        say(to_json({"execution": execution.name, **asdict(outcome)}))
    if outcome.status != "SUCCEEDED":
        raise typer.Exit(1)


@contextmanager
def _example(
    base_urls: dict[str, str], release: str
) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Serve the example API, unless its source is elsewhere or removed; add its secret."""
    from lakekit.sandbox import project  # noqa: PLC0415

    example = project.example_api()
    secrets = project.example_secrets(example.API_KEY)
    if secrets is None or project.EXAMPLE in base_urls:
        yield base_urls, {}
        return
    try:
        server = example.AirportsServer(release)
    except ValueError as error:
        raise InvalidStepInputError(f"--release: {error}") from None
    with server as api:
        other = f"curl -X PUT -d 20250909 {api.address}/release"
        say(f"example API at {api.address}, release {release}; another: {other}", err=True)
        yield base_urls | {project.EXAMPLE: api.address}, secrets


def _keep(sandbox: Any, state: Path) -> None:
    """Run until Ctrl-C, or until the sandbox ends by itself."""
    from lakekit.sandbox import SandboxError  # noqa: PLC0415

    try:
        with sandbox:
            state.write_text(json.dumps({"endpoint": sandbox.endpoint, "pid": os.getpid()}))
            _greet(sandbox)
            while sandbox.alive:
                time.sleep(0.2)
            raise SandboxError(f"the sandbox ended; see {state.parent / 'logs' / 'server.log'}")
    finally:
        state.unlink(missing_ok=True)


def _greet(sandbox: Any) -> None:
    say(f"sandbox at {sandbox.endpoint}, logs in {sandbox.folder / 'logs'}", err=True)
    say("Its data is in memory. Ctrl-C stops it. To talk to it:\n", err=True)
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
