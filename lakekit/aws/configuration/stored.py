"""Sources and contracts of a deployment: one object, whose address a parameter holds."""

import io
import zipfile
from collections.abc import Callable, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import boto3

from lakekit.aws.errors import translated
from lakekit.aws.object_store import S3ObjectStore
from lakekit.errors import InvalidEnvironmentError
from lakekit.ports import ObjectNotFoundError


def find_configuration(
    folder: Path | None, parameter: str, client: Callable[[str], Any]
) -> Traversable:
    """Return a folder with `sources/` and `contracts/`.

    Args:
        folder: The folder itself, if there is one on this machine.
        parameter: Else the name of the parameter that holds the object's address.
        client: Makes a client of a service.

    Raises:
        InvalidEnvironmentError: Neither is given, or nothing is there.
        StorageUnavailableError: It cannot be read now.
    """
    if folder is not None:
        return folder
    if not parameter:
        raise InvalidEnvironmentError("LAKEKIT_CONFIG_PARAMETER: missing")
    ssm = client("ssm")
    try:
        with translated(f"parameter {parameter}"):
            address = ssm.get_parameter(Name=parameter)["Parameter"]["Value"]
    except ssm.exceptions.ParameterNotFound:
        raise InvalidEnvironmentError(f"there is no parameter {parameter}") from None
    place = urlsplit(address)
    store = S3ObjectStore(place.netloc, client("s3"))
    try:
        body = _body(address, lambda: store.get(place.path.lstrip("/")))
    except ObjectNotFoundError:
        raise InvalidEnvironmentError(f"{address}: there is no such object") from None
    # A folder inside the zip has the same methods as one on disk.
    return cast(Traversable, zipfile.Path(zipfile.ZipFile(io.BytesIO(body))))


def configuration_of_job(environment: Mapping[str, str], parameter: str) -> Traversable:
    """Return the folder of a job: that of its parameter, unless the sandbox names another."""
    folder = environment.get("LAKEKIT_CONFIG")
    return find_configuration(Path(folder) if folder else None, parameter, _client)


def _client(service: str) -> Any:
    session: Any = boto3.session.Session()
    return session.client(service)


def _body(address: str, read: Callable[[], bytes]) -> bytes:
    if address not in _NEWEST:
        body = read()
        _NEWEST.clear()
        _NEWEST[address] = body
    return _NEWEST[address]


# The object that this process has read last; its name is a digest of what it holds.
_NEWEST: dict[str, bytes] = {}
