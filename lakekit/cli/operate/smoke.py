"""`lakekit smoke`: a run that tries a release, for a person and for a pipeline."""

import time
from datetime import timedelta
from typing import Annotated

import typer

from lakekit.cli.operate import texts
from lakekit.cli.operate.places import (
    EnvironmentOption,
    JsonOption,
    SandboxOption,
    SourceOption,
    known_environment,
    opened,
)
from lakekit.cli.output import say
from lakekit.cli.sandbox import Data
from lakekit.errors import InvalidStepInputError
from lakekit.operate.smoke import smoke_run
from lakekit.values import to_json
from lakekit.warehouse.places import SANDBOX

# Seconds between two looks at a run.
_AWS, _SANDBOX = 10, 0.5


def smoke(
    environment: EnvironmentOption = None,
    sandbox: SandboxOption = False,
    source: SourceOption = None,
    minutes: Annotated[int, typer.Option(min=1, max=600, help="How long to wait.")] = 30,
    as_json: JsonOption = False,
    data: Data = SANDBOX,
) -> None:
    """Load one source, wait, and fail unless it has loaded its tables.

    Without --source that is `smoke` of the environment's file.

    Example: lakekit smoke --environment dev
    """
    source = source or _source_of(environment)
    with opened(environment, sandbox, data) as place:
        found = smoke_run(
            place.flow,
            place.log,
            source,
            until=place.flow.clock() + timedelta(minutes=minutes),
            pause=lambda: time.sleep(_SANDBOX if sandbox else _AWS),
        )
    say(to_json(found.model_dump(mode="json")) if as_json else texts.runs_text([found.run]))
    if found.fault:
        say(f"smoke: {found.fault}", err=True)
        raise typer.Exit(1)


def _source_of(environment: str | None) -> str:
    source = known_environment(environment).smoke if environment else None
    if source is None:
        where = f"set smoke in config/environments/{environment}.yaml" if environment else ""
        raise InvalidStepInputError(" or ".join(filter(None, ["give --source NAME", where])))
    return source
