"""Where tables are: in a local warehouse, in the sandbox here, or in an environment on AWS."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.error import URLError

from lakekit.duckdb.connection import S3Access
from lakekit.duckdb.reader import Reader, open_reader
from lakekit.errors import InvalidEnvironmentError, InvalidStepInputError
from lakekit.local.catalog import LocalCatalog, refuse_no_warehouse

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from lakekit.config.environment import Environment
    from lakekit.ports import TableFinder

SANDBOX = Path("build/sandbox")
STATE = "state.json"
_MISSING = ("NoSuchBucket", "StateMachineDoesNotExist")


class Place(Protocol):
    """Where tables are. Each reader sees them as they are when it is opened."""

    def reader(self) -> "AbstractContextManager[Reader]":
        """Open a reader; faults of AWS and DuckDB are one line.

        Raises:
            InvalidStepInputError: Nothing is there, or AWS or DuckDB refuses.
            InvalidEnvironmentError: There is no such environment, or it is of another account.
        """


@dataclass(frozen=True)
class LocalPlace:
    """A folder that `lakekit merge` has made."""

    folder: Path

    @contextmanager
    def reader(self) -> Iterator[Reader]:
        """Open a reader; see `Place`."""
        refuse_no_warehouse(self.folder)
        with open_reader(LocalCatalog(self.folder)) as reader:
            yield reader

    def __str__(self) -> str:
        return str(self.folder)


@dataclass(frozen=True)
class SandboxPlace:
    """The sandbox that runs on this machine, by its folder."""

    data: Path = SANDBOX

    @contextmanager
    def reader(self) -> Iterator[Reader]:
        """Open a reader; see `Place`."""
        with aws_faults("sandbox"), open_reader(*self._found()) as reader:
            yield reader

    def _found(self) -> "tuple[TableFinder, S3Access]":
        connection = connect(None, self.data)
        from lakekit.aws.catalog import GlueCatalog  # noqa: PLC0415  boto3 takes its time

        variables = connection.environment
        finder = GlueCatalog(
            connection.names["database"], connection.client("glue"), connection.client("s3")
        )
        return finder, S3Access(
            variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"], connection.region,
            connection.endpoint,
        )  # fmt: skip

    def __str__(self) -> str:
        return "sandbox"


@dataclass(frozen=True)
class EnvironmentPlace:
    """An environment on AWS, by its file's name, and the folder of the file."""

    name: str
    folder: Path

    @contextmanager
    def reader(self) -> Iterator[Reader]:
        """Open a reader; see `Place`."""
        with aws_faults(self.name), open_reader(*self._found()) as reader:
            yield reader

    @cached_property
    def _session(self) -> "tuple[Environment, Any]":
        environment = known_environment(self.name, self.folder)
        from lakekit.aws.place import open_session  # noqa: PLC0415  boto3 takes its time

        return environment, open_session(environment)

    def _found(self) -> "tuple[TableFinder, S3Access]":
        from botocore.exceptions import NoCredentialsError  # noqa: PLC0415

        from lakekit.aws.catalog import GlueCatalog  # noqa: PLC0415

        environment, session = self._session
        credentials = session.get_credentials()
        if credentials is None:
            raise NoCredentialsError
        keys = credentials.get_frozen_credentials()
        s3 = session.client("s3")
        finder = GlueCatalog(environment.database, session.client("glue"), s3)
        return finder, S3Access(
            keys.access_key, keys.secret_key, environment.region, s3.meta.endpoint_url, keys.token
        )

    def __str__(self) -> str:
        return self.name


@contextmanager
def aws_faults(place: str) -> Iterator[None]:
    """Let what AWS refuses become one line.

    Raises:
        InvalidStepInputError: AWS refuses.
    """
    try:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415  takes its time

        from lakekit.aws.errors import code_of  # noqa: PLC0415
    except ModuleNotFoundError:
        raise InvalidStepInputError("boto3 is not installed; pip install 'lakekit[aws]'") from None
    try:
        yield
    except ClientError as error:
        hint = "; is it deployed?" if code_of(error) in _MISSING else ""
        raise InvalidStepInputError(f"{place}: {error}{hint}") from None
    except BotoCoreError as error:
        raise InvalidStepInputError(
            f"{place}: {error}; log in to AWS, or set AWS_PROFILE"
        ) from None


def known_environment(name: str, folder: Path) -> "Environment":
    """Return an environment by its file's name.

    Raises:
        InvalidEnvironmentError: There is no such file; the message names those that there are.
    """
    from lakekit.config.environment import environment_names, load_environment  # noqa: PLC0415  takes its time

    known = environment_names(folder)
    if name not in known:
        there = f"there are {', '.join(known)}" if known else "write one"
        raise InvalidEnvironmentError(f"{folder} has no environment '{name}'; {there}")
    return load_environment(name, folder=folder)


def connect(endpoint: str | None, data: Path) -> Any:
    """Return a connection to the sandbox at an endpoint, or to the one whose state file is here.

    Raises:
        InvalidStepInputError: None runs there.
    """
    from lakekit.sandbox.connection import Connection, ask  # noqa: PLC0415

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
