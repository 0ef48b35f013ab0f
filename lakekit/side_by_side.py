"""Questions to services that do not depend on each other, asked side by side."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")
# As many connections as a client of AWS keeps.
_AT_ONCE = 10


def side_by_side(ask: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
    """Return what is found of each item, in their order."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(ask, items))
