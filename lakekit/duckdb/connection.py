"""A connection of DuckDB that reads Iceberg tables, with extensions from installed wheels alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lakekit.errors import InvalidStepInputError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    # DuckDB would look for extensions in the network, for names among variables of Python, and
    # for secrets in the home of its user.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "allow_persistent_secrets": False,
    "temp_directory": gettempdir(),
    # They come from wheels, as DuckDB itself does. To check the signatures takes longer than to
    # read a table.
    "allow_unsigned_extensions": True,
}
_MISSING = "the packages that read tables are not installed; pip install 'lakekit[readers]'"


@dataclass(frozen=True)
class S3Access:
    """How objects of S3 are read; `endpoint` is its address, or that of an emulation."""

    key: str
    secret: str
    region: str
    endpoint: str
    token: str | None = None


@contextmanager
def connect(access: S3Access | None = None) -> Iterator["DuckDBPyConnection"]:
    """Open a connection for files here, or for objects of S3 if access is given.

    Raises:
        InvalidStepInputError: DuckDB or an extension is not installed.
    """
    try:
        import duckdb  # noqa: PLC0415  it takes its time, and is not everywhere
    except ModuleNotFoundError:
        raise InvalidStepInputError(_MISSING) from None
    with duckdb.connect(config=_CONFIG) as connection:
        for name in ("avro", "iceberg", *(("httpfs",) if access else ())):
            connection.load_extension(str(_extension(name)))
        connection.execute("SET GLOBAL TimeZone = 'UTC'")
        if access:
            _keep_secret(connection, access)
        yield connection


def _extension(name: str) -> Path:
    """Return the file in an extension's wheel; `INSTALL` would look for it in the network."""
    spec = find_spec(f"duckdb_extension_{name}")
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in Path(folder).rglob("*.duckdb_extension"):
            return file
    raise InvalidStepInputError(_MISSING)


def _keep_secret(connection: "DuckDBPyConnection", access: S3Access) -> None:
    address = urlsplit(access.endpoint)
    style = "vhost" if ".amazonaws.com" in address.netloc else "path"
    parts = [
        "TYPE s3", "KEY_ID $key", "SECRET $secret", "REGION $region", "ENDPOINT $endpoint",
        f"URL_STYLE '{style}'", f"USE_SSL {str(address.scheme == 'https').lower()}",
    ]  # fmt: skip
    given = {
        "key": access.key, "secret": access.secret, "region": access.region,
        "endpoint": address.netloc,
    }  # fmt: skip
    if access.token:
        parts.append("SESSION_TOKEN $token")
        given["token"] = access.token
    connection.execute(f"CREATE SECRET ({', '.join(parts)})", given)
