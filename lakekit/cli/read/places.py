"""Where a command reads: a local warehouse, the sandbox here, or an environment on AWS."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lakekit.cli.operate.places import aws_faults, known_environment
from lakekit.cli.project import place
from lakekit.cli.sandbox import connect
from lakekit.duckdb.connection import S3Access
from lakekit.duckdb.reader import Reader, open_reader
from lakekit.errors import InvalidStepInputError
from lakekit.local.catalog import LocalCatalog
from lakekit.local.warehouse import refuse_no_warehouse

if TYPE_CHECKING:
    from lakekit.ports import TableFinder

WarehouseOption = Annotated[
    Path | None, typer.Option("--warehouse", help="Folder of a local warehouse.")
]


@dataclass(frozen=True)
class Where:
    """What a command was given; one of three, or none for the warehouse of the project."""

    warehouse: Path | None
    sandbox: bool
    environment: str | None
    data: Path

    def __str__(self) -> str:
        return str(self.warehouse or self.environment or "sandbox")


@contextmanager
def opened(where: Where) -> Iterator[Reader]:
    """Give a reader of the place that a command names; faults of AWS and DuckDB are one line.

    Raises:
        InvalidStepInputError: It names none or two, nothing is there, or AWS or DuckDB refuses.
        InvalidEnvironmentError: There is no such environment, or it is of another account.
    """
    given = [where.warehouse is not None, where.sandbox, where.environment is not None].count(True)
    project = None if given else place.here()
    if project:
        where = replace(where, warehouse=project.warehouse)
    elif given != 1:
        raise InvalidStepInputError("give --warehouse FOLDER, --sandbox or --environment NAME")
    if where.warehouse is not None:
        refuse_no_warehouse(where.warehouse)
        with open_reader(LocalCatalog(where.warehouse)) as reader:
            yield reader
        return
    with aws_faults(str(where)):
        finder, access = _sandbox(where.data) if where.sandbox else _environment(str(where))
        with open_reader(finder, access) as reader:
            yield reader


def _sandbox(data: Path) -> "tuple[TableFinder, S3Access]":
    connection = connect(None, data)
    from lakekit.aws.catalog import GlueCatalog  # noqa: PLC0415  boto3 takes its time

    variables = connection.environment
    finder = GlueCatalog(
        connection.names["database"], connection.client("glue"), connection.client("s3")
    )
    return finder, S3Access(
        variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"], connection.region,
        connection.endpoint,
    )  # fmt: skip


def _environment(name: str) -> "tuple[TableFinder, S3Access]":
    environment = known_environment(name)
    from lakekit.aws.catalog import GlueCatalog  # noqa: PLC0415  boto3 takes its time
    from lakekit.aws.place import open_session  # noqa: PLC0415

    session: Any = open_session(environment)
    keys = session.get_credentials().get_frozen_credentials()
    s3 = session.client("s3")
    finder = GlueCatalog(environment.database, session.client("glue"), s3)
    return finder, S3Access(
        keys.access_key, keys.secret_key, environment.region, s3.meta.endpoint_url, keys.token
    )
