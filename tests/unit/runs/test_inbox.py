"""Which keys of the inbox are refused."""

import pytest

from lakekit.errors import UnknownSourceError
from lakekit.runs.route_file import parse_inbox_key


@pytest.mark.parametrize(
    "key", ["inbox/shop/a.ndjson", "inbox/shop/orders/", "raw/shop/orders/a.ndjson",
            "inbox/Shop/orders/a.ndjson", "inbox/../orders/a.ndjson"]
)  # fmt: skip
def test_a_file_at_an_unknown_place_is_refused(key: str) -> None:
    with pytest.raises(UnknownSourceError, match="belongs into inbox"):
        parse_inbox_key(key)
