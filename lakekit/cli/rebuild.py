"""The command `lakekit sandbox rebuild`: the job RebuildTable, started as a person does."""

import json
import uuid
from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer

from lakekit import layout
from lakekit.cli.output import say, say_rebuilt
from lakekit.cli.project import place
from lakekit.cli.sandbox import Endpoint, app
from lakekit.local.warehouse import read_text
from lakekit.values import parse_time, to_json
from lakekit.warehouse.places import SANDBOX


@app.command()
def rebuild(
    table: Annotated[str, typer.Option(help="Name of the table.")],
    source: Annotated[str, typer.Option(help="Name of its source.")],
    since: Annotated[
        str | None, typer.Option("--from", help="Only versions that held at or after this time.")
    ] = None,
    keys: Annotated[
        Path | None, typer.Option(help="Only these keys: NDJSON, one object per line.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    endpoint: Endpoint = None,
) -> None:
    r"""Derive a table again from the sandbox's landing bucket.

    The exit code is 1 if that fails.

    Example: lakekit sandbox rebuild --table airports --source airports_api

    Example:
    lakekit sandbox rebuild --table airports --source airports_api \
      --from 2025-01-01T00:00:00Z
    """
    arguments = {"source": source, "table": table}
    if since:
        arguments["from"] = parse_time("--from", since).isoformat()
    text = read_text(keys) if keys else None
    connection = place.connect_sandbox(endpoint, SANDBOX)
    arguments["run_id"] = f"rebuild-{uuid.uuid4()}"
    if text is not None:
        arguments["keys"] = f"{layout.RUNS}{arguments['run_id']}/keys.ndjson"
        _bucket(connection).put(arguments["keys"], text.encode())
    run = _run(connection, arguments | _places(connection))
    if run["JobRunState"] != "SUCCEEDED":
        say(f"{run['JobRunState']}: {run.get('ErrorMessage', 'no error is given')}", err=True)
        say(f"  log: {run['LogGroupName']}", err=True)
        raise typer.Exit(1)
    key = layout.result_key(arguments["run_id"], "rebuild_table", table)
    done = json.loads(_bucket(connection).get(key))
    say(to_json(done) if as_json else say_rebuilt(done | {"runs": len(done["runs"])}))


def _run(connection: Any, arguments: dict[str, str]) -> Any:
    """Run the job; what limits it is its own time-out."""
    from lakekit.sandbox import SandboxError  # noqa: PLC0415  moto takes its time

    try:
        return connection.run_job("rebuild_table", arguments, timeout=inf)
    except SandboxError as error:
        say(str(error), err=True)
        raise typer.Exit(1) from None


def _places(connection: Any) -> dict[str, str]:
    names = connection.names
    return {name: names[name] for name in ("landing_bucket", "database", "warehouse")}


def _bucket(connection: Any) -> Any:
    from lakekit.aws.object_store import S3ObjectStore  # noqa: PLC0415  botocore takes its time

    return S3ObjectStore(connection.names["landing_bucket"], connection.client("s3"))
