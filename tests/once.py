"""What sessions of boto3 and the command line do again in each test, done once for a process."""

from collections.abc import Iterator
from functools import cache
from unittest.mock import patch

import pytest
import typer.testing
from botocore.loaders import JSONFileLoader


@pytest.fixture(scope="session", autouse=True)
def done_once() -> Iterator[None]:
    """Keep what is read about the services of AWS, and the tree of our commands."""
    load, build = JSONFileLoader.load_file, typer.testing._get_command
    kept = cache(lambda path: load(JSONFileLoader(), path))
    with (
        patch.object(JSONFileLoader, "load_file", lambda _, path: kept(path)),
        patch.object(typer.testing, "_get_command", cache(build)),
    ):
        yield
