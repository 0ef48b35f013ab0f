"""The commands `lakekit sandbox …`."""

import json
import os
import signal
import sys
import time
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.error import URLError

import typer
from rich.console import Console

from lakekit.errors import InvalidStepInputError

app = typer.Typer(
    help="AWS on one machine. Its data is in memory and gone when it stops.", no_args_is_help=True
)
FOLDER = Path("build/sandbox")
STATE = "state.json"
Data = Annotated[Path, typer.Option("--data", help="Folder of logs, templates and the state file.")]


@app.command()
def up(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 0,
    cold: Annotated[bool, typer.Option("--cold", help="A new Spark for every job run.")] = False,
    data: Data = FOLDER,
    base_url: Annotated[
        list[str] | None, typer.Option(help="source=URL: read a source from another address.")
    ] = None,
    secret: Annotated[
        list[str] | None, typer.Option(help="name=value: put a secret into Secrets Manager.")
    ] = None,
) -> None:
    """Start a sandbox and keep it running until Ctrl-C. All its data is in memory.

    Example: lakekit sandbox up --base-url airports_api=http://127.0.0.1:8080
    """
    from sandbox.aws import Sandbox, SandboxError  # noqa: PLC0415  moto takes its time
    from sandbox.aws.template import SynthesisError  # noqa: PLC0415

    signal.signal(signal.SIGTERM, _interrupt)
    sandbox = Sandbox(
        root=_root(),
        folder=data,
        base_urls=_pairs("--base-url", base_url),
        secrets=_pairs("--secret", secret),
        cold=cold,
        port=port,
    )
    state = data / STATE
    try:
        with sandbox:
            state.write_text(json.dumps({"endpoint": sandbox.endpoint, "pid": os.getpid()}))
            _greet(sandbox)
            while sandbox.alive:
                time.sleep(0.2)
            raise SandboxError(f"the sandbox ended; see {data / 'logs' / 'server.log'}")
    except KeyboardInterrupt:
        typer.echo("stopped; the data is gone", err=True)
    except (SandboxError, SynthesisError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    finally:
        state.unlink(missing_ok=True)


@app.command()
def run(
    machine: Annotated[Literal["load_source", "maintain_tables"], typer.Argument()],
    source: Annotated[str, typer.Option(help="Name of the source.")],
    extraction_time: Annotated[
        str | None, typer.Option(help="Time of the data instead of now, with its zone.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    endpoint: Annotated[str | None, typer.Option(help="Of a sandbox started elsewhere.")] = None,
    data: Data = FOLDER,
) -> None:
    """Start a state machine in the sandbox and watch it; exit code 1 if it fails.

    Example: lakekit sandbox run load_source --source airports_api
    """
    request: dict[str, Any] = {"source": source}
    if extraction_time:
        if machine != "load_source":
            raise InvalidStepInputError("--extraction-time is for load_source")
        request["extraction_time"] = _time(extraction_time)
    connection = _connect(endpoint, data)
    from sandbox.live import watch  # noqa: PLC0415  after the checks that need no boto3

    execution = connection.start(machine, request)
    # With --json, standard output is for the program that reads it.
    outcome = watch(connection, execution, console=Console(stderr=as_json))
    if as_json:
        typer.echo(json.dumps({"execution": execution.name, **asdict(outcome)}))
    if outcome.status != "SUCCEEDED":
        raise typer.Exit(1)


def _root() -> Path:
    root = Path(__file__).resolve().parents[1]
    if not (root / "cdk" / "app.py").is_file():
        raise InvalidStepInputError("the sandbox runs from a checkout: cdk/app.py is not here")
    return root


def _connect(endpoint: str | None, data: Path) -> Any:
    from sandbox.aws.connection import Connection, ask  # noqa: PLC0415

    state = data / STATE
    hint = "start one in another terminal: lakekit sandbox up"
    if endpoint is None:
        if not state.is_file():
            raise InvalidStepInputError(f"no sandbox runs here ({state}); {hint}")
        endpoint = json.loads(state.read_text())["endpoint"]
    try:
        return Connection(ask(str(endpoint)))
    except (URLError, OSError, ValueError) as error:
        raise InvalidStepInputError(f"no sandbox at {endpoint}: {error}; {hint}") from None


def _greet(sandbox: Any) -> None:
    typer.echo(f"sandbox at {sandbox.endpoint}, logs in {sandbox.folder / 'logs'}", err=True)
    typer.echo("Its data is in memory. Ctrl-C stops it. To talk to it:\n", err=True)
    for name, value in sandbox.environment.items():
        typer.echo(f"export {name}={value}")
    sys.stdout.flush()


def _pairs(option: str, given: list[str] | None) -> dict[str, str]:
    pairs = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise InvalidStepInputError(f"{option} wants name=value")
        pairs[name] = value
    return pairs


def _time(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidStepInputError(f"--extraction-time {text}: not a time") from None
    if moment.tzinfo is None:
        raise InvalidStepInputError(f"--extraction-time {text}: has no zone; append Z for UTC")
    return moment.isoformat()


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt
