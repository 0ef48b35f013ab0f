"""`lakekit doctor`."""

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from lakekit.cli.formats import FormatOption
from lakekit.cli.operate.places import known_environment
from lakekit.cli.output import say, show
from lakekit.cli.project import place
from lakekit.config.load import read_sources

COLUMNS = ("check", "state", "subject", "text")


def doctor(
    environment: Annotated[str, typer.Option("--environment", help="By its file's name.")],
    probe: Annotated[
        bool, typer.Option("--probe", help="Write an object to the landing bucket, and remove it.")
    ] = False,
    form: FormatOption = "table",
) -> None:
    """Look at the account of an environment: what it needs, what a deployment has left.

    It changes nothing. Without credentials it lists what it would look at. It ends with 1 if
    something is wrong, or if nothing could be asked.

    Example: lakekit doctor --environment prod
    """
    known = known_environment(environment)
    sources = read_sources(place.required().config, environment)
    import boto3  # noqa: PLC0415  takes its time
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    from lakekit.aws.doctor.check import Account  # noqa: PLC0415
    from lakekit.aws.doctor.examine import Finding, examine, unasked  # noqa: PLC0415

    def shown(findings: Iterable[Finding]) -> None:
        show(COLUMNS, [tuple(each.model_dump().values()) for each in findings], form, limit=0)

    try:
        session: Any = boto3.session.Session(region_name=known.region)
        has_credentials = session.get_credentials() is not None
    except BotoCoreError as error:
        say(f"{environment}: {error}", err=True)
        has_credentials = False
    if not has_credentials:
        shown(unasked())
        say("nothing was asked: there are no AWS credentials; log in, or set AWS_PROFILE", err=True)
        raise typer.Exit(1)
    found = list(examine(Account(known, sources, session.client, probe)))
    shown(found)
    if any(each.state == "failed" for each in found):
        raise typer.Exit(1)
