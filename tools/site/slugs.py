"""Anchors as the repository's host makes them, so that one link works in both places."""

import re


def slug(title: str, separator: str) -> str:
    """Return the anchor of a heading.

    Example:
        >>> slug("What a month costs: `cost`", "-")
        'what-a-month-costs-cost'
    """
    return re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", separator)
