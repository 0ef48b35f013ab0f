"""Fixtures of the stories of the light steps."""

import pytest

from tests.fakes import MemoryObjectStore


@pytest.fixture
def store() -> MemoryObjectStore:
    return MemoryObjectStore()
