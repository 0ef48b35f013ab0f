"""Fixtures of the stories of what a table was merged from."""

import pytest

from tests.unit.replay.bucket import Bucket


@pytest.fixture
def bucket() -> Bucket:
    return Bucket()
