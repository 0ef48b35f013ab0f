"""The tiers of the suite: `make test` leaves out what is marked `long`."""

from typing import Any

import pytest


def long(*values: Any, id: str | None = None) -> Any:
    """Mark values of a test as long; another test, or other values, cover them by default."""
    return pytest.param(*values, marks=pytest.mark.long, id=id)
