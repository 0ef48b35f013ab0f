"""Where an address points, and how it is shown without what it may hold of secrets."""

import re
from urllib.parse import urlsplit

# A query or a fragment, in any text: it begins where no space does, and has a value.
_QUERY = re.compile(r"[?#][^\s'\"<>]*=[^\s'\"<>]*")


def origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of an address; of none, what no other address has."""
    try:
        parts = urlsplit(url)
        default = {"http": 80, "https": 443}.get(parts.scheme)
        return parts.scheme, (parts.hostname or "").lower(), parts.port or default
    except ValueError:
        return "", "", None


def shown(url: str) -> str:
    """Return an address without its query and user, which can hold secrets.

    Example:
        >>> shown("https://ann:pw@a.org/items?key=1")
        'https://a.org/items'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that is none"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def without_queries(text: str) -> str:
    """Return a text in which no address has a query.

    Example:
        >>> without_queries("names /items?page=2&token=abc as the next page")
        'names /items?… as the next page'
    """
    return _QUERY.sub("?…", text)
