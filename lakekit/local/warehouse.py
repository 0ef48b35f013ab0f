"""The local warehouse as the commands use it: its options, its session, its faults in one line."""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from shutil import rmtree
from time import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lakekit import layout
from lakekit.contract.checked import CheckedContract
from lakekit.contract.contract import Contract
from lakekit.duckdb.tables import refuse_unknown
from lakekit.errors import InvalidContractError, InvalidStepInputError
from lakekit.local.catalog import LocalCatalog, refuse_no_warehouse
from lakekit.spark_conf import CATALOG, LOCAL_DATABASE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Warehouse = Annotated[Path, typer.Option(help="Folder of the local warehouse.")]

# Bytes of input from which on compiling Java well pays.
LARGE = 64 * 1024 * 1024
# What Java prints.
LOG = "spark.log"
_CLASSES = re.compile(r"^(?:\[[A-Z_.]+\] |[\w.$]+(?:Exception|Error): )+")
_PLACES = re.compile(r"(?:;? *SQLSTATE: \w+)?(?:; line \d+ pos \d+)?;?$")
_QUOTED = re.compile(r"`([^`]+)` cannot be found")


@contextmanager
def opened(
    warehouse: Path, *, make: bool = False, inputs: Iterable[str] = ()
) -> Iterator["SparkSession"]:
    """Open a warehouse; what Spark says of a fault becomes one line.

    Args:
        warehouse: Its folder.
        make: Make it if it is not there.
        inputs: Files that will be read: large ones are worth the better compiler.

    Raises:
        InvalidStepInputError: There is no warehouse and none is to be made, or Spark refuses.
    """
    if not make or (warehouse.exists() and not warehouse.is_dir()):
        refuse_no_warehouse(warehouse)
    from lakekit.spark.session.output import output_into  # noqa: PLC0415
    from lakekit.spark.session.session import local_session, make_catalog  # noqa: PLC0415

    with spark_faults(warehouse):
        try:
            make_catalog(warehouse)
            with output_into(warehouse / LOG):
                session = local_session(warehouse, light=sum(map(_size, inputs)) < LARGE)
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise InvalidStepInputError(
                f"{warehouse}: no warehouse can be here: {reason}"
            ) from None
        # Else Java prints a trace of what becomes one line.
        session.sparkContext.setLogLevel("FATAL")
        yield session


@contextmanager
def spark_faults(warehouse: Path | None = None) -> Iterator[None]:
    """Let what Spark says of a fault become one line; that of a table names those that there are.

    Raises:
        InvalidStepInputError: Spark refuses.
    """
    from py4j.protocol import Py4JJavaError  # noqa: PLC0415  Spark takes seconds to import
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        yield
    except PySparkException as error:
        text = str(error)
        if warehouse and "JAVA_GATEWAY_EXITED" in text:
            raise InvalidStepInputError(f"Java does not start; see {warehouse / LOG}") from None
        if warehouse and "TABLE_OR_VIEW_NOT_FOUND" in text:
            refuse_unknown(_QUOTED.findall(text)[-1:], LocalCatalog(warehouse).locations())
        raise InvalidStepInputError(plain(text)) from None
    except Py4JJavaError as error:
        raise InvalidStepInputError(plain(_root_cause(error.java_exception))) from None


def plain(text: str) -> str:
    """Return what Spark says of a fault: its first line, without its classes and its places.

    Example:
        >>> plain("[NO_COLUMN.WITH_SUGGESTION] There is no `a`. SQLSTATE: 42703; line 1 pos 7;")
        'There is no `a`.'
        >>> plain("org.apache.iceberg.exceptions.CommitFailedException: Cannot commit")
        'Cannot commit'
    """
    line = next((each for each in text.splitlines() if each.strip()), "Spark failed")
    return _PLACES.sub("", _CLASSES.sub("", line)).strip()


def staging_of(warehouse: Path) -> str:
    """Return the address of the folder for change sets."""
    return (warehouse / layout.STAGING).resolve().as_uri()


def tidy_staging(warehouse: Path) -> None:
    """Remove the change sets that killed runs left there long ago."""
    oldest = time() - timedelta(days=layout.STAGING_DAYS).total_seconds()
    for left in (warehouse / layout.STAGING).glob(f"{layout.OWN}*"):
        # A run that is at work may remove its own meanwhile.
        with suppress(FileNotFoundError):
            if max(each.stat().st_mtime for each in (left, *left.rglob("*"))) < oldest:
                rmtree(left, ignore_errors=True)


def _size(file: str) -> int:
    path = Path(file)
    return path.stat().st_size if path.is_file() else 0


def identifier(table: str) -> str:
    """Return a table's full identifier in the local warehouse."""
    return f"{CATALOG}.{LOCAL_DATABASE}.{table}"


def read_contract(file: Path) -> Contract:
    """Load a contract from a file, and check it as `lakekit check` does."""
    return CheckedContract.from_yaml(read_text(file), name=str(file), is_file=True)


def read_text(file: Path) -> str:
    """Read a file of configuration."""
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidContractError(f"{file}: not UTF-8") from None
    except OSError as error:
        raise InvalidContractError(f"{file}: {error.strerror}") from None


def _root_cause(exception: Any) -> str:
    """Return what went wrong first, which is the innermost cause."""
    while (cause := exception.getCause()) is not None:
        exception = cause
    return str(exception)
