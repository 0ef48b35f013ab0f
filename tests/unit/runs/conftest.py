"""Fixtures of the stories of the light steps."""

import pytest

from tests.fakes import MemoryObjectStore
from tests.unit.runs.bucket import Bucket


@pytest.fixture
def bucket() -> Bucket:
    return Bucket()


@pytest.fixture
def store() -> MemoryObjectStore:
    return MemoryObjectStore()
