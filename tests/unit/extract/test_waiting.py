"""What an answer says of waiting; what is odd means nothing, and never fails."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from requests.structures import CaseInsensitiveDict

from lakekit.extract.http.waiting import limit_reset, retry_after

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
CLOCK = "Thu, 01 Jan 2026 11:00:00 GMT"
IN_AN_HOUR = int(NOW.timestamp()) + 3600


def after(headers: dict[str, str]) -> float | None:
    return retry_after(CaseInsensitiveDict(headers), lambda: NOW)


def reset(headers: dict[str, str]) -> float | None:
    return limit_reset(CaseInsensitiveDict(headers), lambda: NOW)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2", 2), (" 120 ", 120), ("1.5", 1.5), ("0", 0), ("Thu, 01 Jan 2026 12:00:30 GMT", 30),
        ("Thursday, 01-Jan-26 12:00:30 GMT", 30), ("Thu Jan  1 12:00:30 2026", 30),
        ("Sat, 01 Jan 2000 00:00:00 GMT", 0), ("soon", None), ("", None), ("-1", None),
        ("1e9", None), ("2026", 2026), ("Thu, 99 Jan 2026 12:00:30 GMT", None),
    ],
)  # fmt: skip
def test_retry_after_is_a_number_or_a_date(text: str, seconds: float | None) -> None:
    assert after({"retry-after": text}) == seconds


def test_a_date_counts_from_the_clock_of_the_source() -> None:
    assert after({"Retry-After": "Thu, 01 Jan 2026 11:00:30 GMT", "Date": CLOCK}) == 30


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30"}, 30),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(IN_AN_HOUR)}, 3600),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": f"{IN_AN_HOUR}000"}, 3600),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "2026-01-01T12:00:05Z"}, 5),
        ({"X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "7"}, 7),
        ({"RateLimit-Remaining": "0", "RateLimit-Reset": "50"}, 50),
        ({"RateLimit": "limit=100, remaining=0, reset=20"}, 20),
        ({"RateLimit": '"burst";r=5;t=1, "day";r=0;t=60'}, 60),
        ({"RateLimit": '"default";r=50;t=30'}, None),
        ({"X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "30"}, None),
        ({"X-RateLimit-Remaining": "0"}, None),
        ({"X-RateLimit-Reset": "30"}, None),
        ({"X-RateLimit-Remaining": "none", "X-RateLimit-Reset": "30"}, None),
    ],
)
def test_a_limit_of_which_nothing_remains_says_when_it_is_new(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert reset(headers) == seconds


HEADER = st.one_of(
    st.text(max_size=30), st.from_regex(r"[0-9.,;=rt\"-]{0,30}", fullmatch=True),
    st.datetimes().map(lambda d: d.strftime("%a, %d %b %Y %H:%M:%S GMT")), st.floats().map(str),
    st.integers().map(str),
)  # fmt: skip
NAMES = ("Retry-After", "Date", "RateLimit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


@given(st.dictionaries(st.sampled_from(NAMES), HEADER))
def test_any_headers_give_a_duration_or_nothing(headers: dict[str, str]) -> None:
    for found in (after(headers), reset({"X-RateLimit-Remaining": "0"} | headers)):
        assert found is None or 0 <= found < 1e9
