import pytest

from lakekit.config.auth import ApiKeyAuth, Secret
from lakekit.config.schedule import Schedule
from lakekit.config.source import Source, load_source
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
    secret = Secret(name="lakekit/airports")
    assert source.auth == (ApiKeyAuth(type="api_key", header="X-Key", secret=secret),)
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


def test_a_source_of_files_alone_has_no_address() -> None:
    source = load_source("source: s")

    assert source.base_url is None
    assert Source.model_validate_json(source.model_dump_json()) == source


@pytest.mark.parametrize("more", ["auth: {type: bearer, secret: x}", "schedule: rate(1 hour)"])
def test_without_an_address_nothing_is_asked(more: str) -> None:
    field = more.partition(":")[0]

    with pytest.raises(InvalidContractError, match=f"without base_url .* leave out {field}"):
        load_source(f"source: s\n{more}")


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
    source = load_source(AIRPORTS.replace("lakekit/airports", f"'{name}'"))

    assert [*source.secrets()] == [(("auth", "secret"), Secret(name=name))]
    with pytest.raises(InvalidContractError, match="secret"):
        load_source(AIRPORTS.replace("lakekit/airports", "'lakekit/{region}/airports'"))


ALWAYS = "source: s\nbase_url: https://a.org\nauth: "


@pytest.mark.parametrize(
    "auth",
    [
        "{type: api_key, query: key, secret: n}",
        "{type: api_key, cookie: c, secret: {name: n, field: a key}}",
        "[{type: api_key, header: X-A, secret: a}, {type: api_key, header: X-B, secret: b}]",
        "[{type: mutual_tls, certificate: a, private_key: b}, {type: bearer, secret: c}]",
        "{type: basic, username: {name: n, field: user}, secret: n}",
        "{type: oauth2_client_credentials, token_url: https://b.org/t/, client_id: i, "
        "client_secret: n, scopes: [a], params: {audience: x}}",
        "{type: oauth2_refresh_token, token_url: https://b.org/t, client_id: i, refresh_token: n}",
        "{type: jwt_bearer, token_url: https://b.org/t, issuer: i, private_key: n}",
        "{type: sigv4, region: eu-central-1}",
    ],
)
def test_takes_each_way_to_sign_in(auth: str) -> None:
    source = load_source(ALWAYS + auth)

    assert load_source(ALWAYS + auth) == source.model_validate(source.model_dump(mode="json"))


@pytest.mark.parametrize(
    ("auth", "fault"),
    [
        ("{type: api_key, query: a, cookie: b, secret: n}", "auth: a key is in a header, in the"),
        ("[{type: bearer, secret: a}, {type: basic, username: u, secret: b}]",
         "auth: two ways to sign in write the header Authorization"),
        ("[{type: api_key, header: X-A, secret: a}, {type: api_key, header: x-a, secret: b}]",
         "auth: two ways to sign in write the header X-A"),
        ("{type: bearer, secret: {name: n, fild: x}}", "auth.secret.fild: unknown field; did you"),
        ("{type: bearer, secret: 'a b'}", "auth.secret: String should match"),
        ("{type: basic, username: 1, secret: n}", "auth.username: must be text, but YAML reads"),
        ("{type: oauth2_client_credentials, token_url: http://b.org, client_id: i, "
         "client_secret: n}", "auth.token_url: must use https"),
        ("{type: jwt_bearer, issuer: i, private_key: n}", "auth: without token_url, audience"),
        ("{type: sigv4, region: eu-central-1, access_key_id: a}", "auth: access_key_id and secret"),
        ("{type: bearer}", "auth.secret: Field required"),
    ],
)  # fmt: skip
def test_names_what_is_wrong_with_a_way_to_sign_in(auth: str, fault: str) -> None:
    with pytest.raises(InvalidContractError) as caught:
        load_source(ALWAYS + auth)

    [line] = str(caught.value).splitlines()
    assert line.startswith(f"source: {fault}")


def test_each_secret_must_be_one_that_a_function_may_read() -> None:
    source = load_source(
        ALWAYS + "[{type: mutual_tls, certificate: a, private_key: b},"
        " {type: basic, username: {name: c, field: u}, secret: d}]"
    )

    assert [(path, secret.name) for path, secret in source.secrets()] == [
        (("auth", 0, "certificate"), "a"), (("auth", 0, "private_key"), "b"),
        (("auth", 1, "username"), "c"), (("auth", 1, "secret"), "d"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("auth", "fault"),
    [
        ("{type: bearer, token: a/b}", "auth.token: unknown field; did you mean 'secret'?"),
        ("{type: api_key, key: a}", "auth.key: unknown field; did you mean 'secret'?"),
        ("[{type: bearer, secret: a, token: b}]", "auth.0.token: unknown field; remove it"),
        ("{type: bearer, secrt: a}", "auth.secrt: unknown field; did you mean 'secret'?"),
        (
            "{type: bearer, secret: a, header: X}",
            "auth.header: unknown field; it has no meaning here",
        ),
    ],
)
def test_an_unknown_field_gets_the_nearest_one_of_its_own_model(auth: str, fault: str) -> None:
    with pytest.raises(InvalidContractError) as refused:
        load_source(f"source: a\nbase_url: https://a.org\nauth: {auth}\n", name="a.yaml")

    assert str(refused.value).splitlines()[0] == f"a.yaml: {fault}"


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [("abc", None, "abc"), ('{"a": "b"}', "a", "b"), ('{"a": 5}', "a", "5"), ("5", None, "5")],
)
def test_a_secret_is_all_of_its_text_or_one_field(text: str, field: str | None, value: str) -> None:
    assert Secret(name="n", field=field).value_in(text) == value


@pytest.mark.parametrize(
    "text",
    ["abc", "[1]", "{}", '{"a": ""}', '{"a": true}', '{"a": 1.5}', '{"a": null}', '{"a": {}}'],
)
def test_a_field_of_a_secret_must_hold_a_text_or_a_whole_number(text: str) -> None:
    with pytest.raises(ValueError, match=r"the field a|no field a"):
        Secret(name="n", field="a").value_in(text)
