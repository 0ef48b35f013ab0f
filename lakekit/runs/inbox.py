"""What the key of a file in the inbox says: for which endpoint it is, and how it is written."""

import re
from dataclasses import dataclass

from lakekit.errors import SourceShapeError, UnknownSourceError

_ENDING = re.compile(r"^.+?(?P<plain>\.(ndjson|jsonl|csv))?(?P<gzip>\.gz)?$")
_INBOX = re.compile(
    r"^inbox/(?P<source>[a-z][a-z0-9_]*)/(?P<endpoint>[a-z][a-z0-9_]*)/(?P<file>.+)$"
)


@dataclass(frozen=True)
class InboxFile:
    """What a key below the inbox says."""

    source: str
    endpoint: str
    ending: str

    @property
    def is_csv(self) -> bool:
        """Whether the file is CSV; else it is NDJSON."""
        return self.ending.startswith(".csv")


def parse_inbox_key(key: str) -> InboxFile:
    """Read source, endpoint and format off a key.

    Raises:
        UnknownSourceError: It is not `inbox/{source}/{endpoint}/{file}`.
        SourceShapeError: Its ending is none that is known.

    Example:
        >>> parse_inbox_key("inbox/shop/orders/2026/day.jsonl.gz")
        InboxFile(source='shop', endpoint='orders', ending='.ndjson.gz')
    """
    place = _INBOX.match(key)
    if not place:
        raise UnknownSourceError(f"{key}: a file belongs into inbox/{{source}}/{{endpoint}}/")
    name = place["file"].rpartition("/")[2]
    found = _ENDING.match(name.lower())
    plain, packed = (found["plain"], found["gzip"]) if found else (None, None)
    if not plain and (not packed or "." in name[: -len(".gz")]):
        raise SourceShapeError(f"{key}: must end in .ndjson, .jsonl or .csv, or that and .gz")
    kind = ".csv" if plain == ".csv" else ".ndjson"
    return InboxFile(place["source"], place["endpoint"], kind + (packed or ""))
