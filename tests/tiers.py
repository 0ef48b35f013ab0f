"""The tiers of the suite: `make test` leaves out what is marked `long`."""

from typing import Any

import pytest


def long(*values: Any, id: str | None = None) -> Any:
    """Return values of a test that another one, or the same with others, holds by default."""
    return pytest.param(*values, marks=pytest.mark.long, id=id)
