import pytest

from lakekit.config.schedule import Schedule
from lakekit.config.source import ApiKeyAuth, load_source
from lakekit.errors import InvalidContractError

AIRPORTS = """
source: airports_api
base_url: http://127.0.0.1:8080/v1/
auth: {type: api_key, header: X-Key, secret: lakekit/airports}
schedule: rate(1 day)
call_budget: {max_requests_per_run: 100, max_requests_per_second: 5}
"""


def test_loads_a_source_with_its_defaults() -> None:
    source = load_source(AIRPORTS)

    assert source.base_url == "http://127.0.0.1:8080/v1"
    assert source.auth == ApiKeyAuth(type="api_key", header="X-Key", secret="lakekit/airports")  # noqa: S106
    assert source.timeout_seconds == 30
    assert (
        load_source("source: s\nbase_url: https://a.org").call_budget.max_requests_per_run == 1000
    )


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org", "ftp://example.org", "https://user:pw@example.org",
        "https://example.org?key=1", "https://example.org#a", "https://10.0.0.1",
        "https://169.254.169.254/latest", "https://[fe80::1]", "https://[::ffff:10.0.0.1]",
        "https://2130706433", "https://127.1", "https://0x7f000001", "https://", "https://a b.org",
        "https://example.org:99999", "example.org", "https://100.64.0.1", "https://0.0.0.0",
    ],
)  # fmt: skip
def test_refuses_an_unsafe_address(url: str) -> None:
    with pytest.raises(InvalidContractError, match="base_url"):
        load_source(f"source: s\nbase_url: '{url}'")


@pytest.mark.parametrize(
    "url",
    ["https://api.example.org/v1", "http://localhost:9000", "http://[::1]:80", "https://8.8.8.8"],
)
def test_accepts_a_public_address_and_this_machine(url: str) -> None:
    assert load_source(f"source: s\nbase_url: '{url}'").base_url == url


@pytest.mark.parametrize("text", ["rate(1 hour)", "rate(15 minutes)", "cron(0 6 * * ? *)"])
def test_accepts_a_schedule(text: str) -> None:
    schedule = load_source(f"source: s\nbase_url: https://a.org\nschedule: {text}").schedule

    assert schedule == Schedule(expression=text, time_zone="UTC", flexible_minutes=0)


@pytest.mark.parametrize(
    "text", ["daily", "rate(1 hours)", "rate(2 hour)", "cron(0 6 * * *)", "cron(0 6 * * * *)"]
)
def test_refuses_what_is_no_schedule(text: str) -> None:
    with pytest.raises(InvalidContractError, match="schedule"):
        load_source(f"source: s\nbase_url: https://a.org\nschedule: {text}")


def test_refuses_an_unknown_kind_of_auth() -> None:
    with pytest.raises(InvalidContractError, match="auth"):
        load_source("source: s\nbase_url: https://a.org\nauth: {type: magic}")


def test_a_secret_may_be_named_for_all_environments_and_by_no_other_placeholder() -> None:
    name = "lakekit/{environment}/airports"
    auth = load_source(AIRPORTS.replace("lakekit/airports", f"'{name}'")).auth

    assert isinstance(auth, ApiKeyAuth)
    assert auth.secret == name
    with pytest.raises(InvalidContractError, match="secret"):
        load_source(AIRPORTS.replace("lakekit/airports", "'lakekit/{region}/airports'"))
