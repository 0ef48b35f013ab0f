"""Messages of faults without the lines and columns at which they are."""

import re


def without_places(error: object) -> str:
    """Return a message in which a file has no line and column."""
    return re.sub(r"^([^\s:]+):\d+:\d+: ", r"\1: ", str(error), flags=re.MULTILINE)
