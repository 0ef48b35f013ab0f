"""Secrets leave no trace: not in errors, not in logs, not in what is kept between calls."""

import json
import logging
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug import Request, Response

from lakekit.config.auth import Secret
from lakekit.errors import LakekitError, SourceShapeError
from lakekit.extract import SourceClient, SourceRequest
from lakekit.extract.http.addresses import without_queries
from lakekit.extract.http.secrets import Secrets, replace_texts
from tests.unit.extract.conftest import Api

KEY = "s3cret/+ ü&=%"


def secrets(value: str = KEY) -> Secrets:
    found = Secrets(lambda _: value)
    found.text(Secret(name="n"))
    return found


@pytest.mark.parametrize(
    "form",
    [KEY, quote(KEY, safe=""), quote_plus(KEY), quote(KEY, safe="").lower().replace("%c3", "%c3")],
)
def test_a_secret_is_taken_out_in_each_of_its_forms_and_put_in_again(form: str) -> None:
    found = secrets()
    text = f"https://a.org/x?page=2&key={form}&z=1"

    redacted = found.redact(text)

    assert "s3cret" not in redacted
    assert found.restore(redacted) == text


@given(
    st.lists(
        st.text("abs/+ %secrtn<", min_size=4, max_size=9), min_size=1, max_size=3, unique=True
    ),
    st.lists(st.integers(0, 2) | st.text("abs/ ?=&", max_size=5), max_size=5),
)
def test_any_link_is_what_it_was_when_its_secrets_are_put_in_again(
    values: list[str], parts: list[int | str]
) -> None:
    named = {f"n{number}": value for number, value in enumerate(values)}
    found = Secrets(named.__getitem__)
    for name in named:
        found.text(Secret(name=name))
    text = "".join(p if isinstance(p, str) else quote_plus(values[p % len(values)]) for p in parts)

    redacted = found.redact(text)

    assert found.restore(redacted) == text


def test_a_secret_may_be_a_part_of_another_ones_name() -> None:
    named = {"lakekit/shop": "s3cret-value", "user": "shop"}
    found = Secrets(named.__getitem__)
    for name in named:
        found.text(Secret(name=name))

    redacted = found.redact("https://shop.example/x?key=s3cret-value")

    assert redacted == "https://<secret user#>.example/x?key=<secret lakekit/shop#>"
    assert found.restore(redacted) == "https://shop.example/x?key=s3cret-value"


def test_a_token_of_an_earlier_call_becomes_the_one_of_today() -> None:
    kept = secrets("old-token").redact("/x?t=old-token")

    assert secrets("new-token").restore(kept) == "/x?t=new-token"


def test_texts_at_any_depth_are_replaced() -> None:
    value = {"a": ["x", {"b": "x"}], "n": 1, "none": None}

    assert replace_texts(value, str.upper) == {"a": ["X", {"b": "X"}], "n": 1, "none": None}


def test_a_short_secret_does_not_eat_the_text() -> None:
    assert secrets("e").redact("the page") == "the page"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("names https://a.org/x?token=abc, so", "names https://a.org/x?… so"),
        ("page 2?", "page 2?"), ("is it so? a = b", "is it so? a = b"),
        ("https://a.org/#access_token=abc", "https://a.org/?…"),
    ],
)  # fmt: skip
def test_no_address_of_an_error_has_a_query(text: str, shown: str) -> None:
    assert without_queries(text) == shown


WAYS: dict[str, dict[str, Any]] = {
    "header": {"type": "api_key", "header": "X-Key", "secret": "n"},
    "query": {"type": "api_key", "query": "key", "secret": "n"},
    "bearer": {"type": "bearer", "secret": "n"},
    "basic": {"type": "basic", "username": "u", "secret": "n"},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "answer",
    [
        lambda r: Response(f"no {r.full_path}", status=400),
        lambda r: Response(f"no {r.full_path}", status=500),
        lambda r: Response(status=302, headers={"Location": f"https://example.org/{r.full_path}"}),
        lambda r: Response(status=302, headers={"Location": "/s3cret-value?key=s3cret-value"}),
        lambda r: Response(f"<html>{r.full_path}</html>", content_type="text/html", status=429),
    ],
)
def test_an_error_shows_no_secret(
    api: Api, way: str, answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("werkzeug").propagate = False
    api.serve(answer)
    client = SourceClient(
        api.source(auth=WAYS[way]), lambda _: "s3cret-value", sleep=lambda _: None
    )

    with pytest.raises(LakekitError) as caught:
        client.send(SourceRequest(api.server.url_for("/items"), (("key", "s3cret-value"),)))

    logging.getLogger("werkzeug").propagate = True
    client.close()
    error: BaseException | None = caught.value
    while error:
        assert "s3cret" not in str(error)
        error = error.__cause__ or error.__context__
    assert "s3cret" not in caplog.text


def test_an_error_of_another_module_loses_its_secrets(api: Api) -> None:
    client = SourceClient(api.source(auth=WAYS["bearer"]), lambda _: "s3cret-value")
    api.serve(lambda _: {"items": []})
    client.send(SourceRequest(api.server.url_for("/items")))

    mended = client.redacted_error(SourceShapeError("a next page, /x?t=1, and s3cret-value"))
    other = client.redacted_error(KeyError("s3cret-value"))

    client.close()
    assert str(mended) == "a next page, /x?… and <secret n#>"
    assert isinstance(mended, SourceShapeError)
    assert str(other) == "KeyError: '<secret n#>'"


def test_a_link_that_repeats_a_key_of_a_header_is_made_again_by_a_new_call(api: Api) -> None:
    source = api.source(auth=WAYS["header"])
    client = SourceClient(source, lambda _: "rotated/value")

    assert client.restore("/x?echo=<secret n# %>") == "/x?echo=rotated%2Fvalue"
    with pytest.raises(SourceShapeError, match="held assertion, with which it cannot"):
        client.restore("/x?echo=<secret assertion>")
    client.close()


def test_a_next_link_with_a_key_is_kept_without_it_and_asked_for_with_it(api: Api) -> None:
    def answer(request: Request) -> Any:
        link = api.server.url_for(f"/items?page=2&key={request.args['key']}")
        return {"items": [1], "next": None if "page" in request.args else link}

    api.serve(answer)
    source = api.source(auth=WAYS["query"])
    first = SourceClient(source, lambda _: "s3cret-value")
    body = json.loads(first.send(SourceRequest(api.server.url_for("/items"))).body)
    kept = json.dumps(first.redact(body))
    first.close()

    second = SourceClient(source, lambda _: "rotated-value")
    second.send(SourceRequest(second.restore(json.loads(kept))["next"]))
    second.close()

    assert "s3cret" not in kept
    assert api.requests[1].query_string == b"page=2&key=rotated-value"
