"""A source that repeats secrets and tokens wherever it can: no trace of them is left by a run."""

import gzip
import json
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import boto3
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from lakekit.errors import LakekitError
from tests.lambdas.conftest import Account, Context

RUN = {"run_id": "7c1d6f0e-2f4a-4b7e-9d55-0c8b6a1f2e3d", "source": "shop"}
NAME = "lakekit/dev/shop"
SECRET = {"id": "the-s3cret-client", "key": "s3cret/val+ue"}
TRACES = (
    "s3cret", "val+ue", "val%2Bue", "t0ken-", "opaque-", "dGhlLXMzY3JldC1jbGllbnQ",
    "czNjcmV0L3ZhbCt1ZQ",
)  # fmt: skip
KEY = {"name": NAME, "field": "key"}
OAUTH = {
    "type": "oauth2_client_credentials", "client_id": {"name": NAME, "field": "id"},
    "client_secret": KEY,
}  # fmt: skip
WAYS: dict[str, Any] = {
    "header": {"type": "api_key", "secret": KEY},
    "query": {"type": "api_key", "query": "key", "secret": KEY},
    "basic": {"type": "basic", "username": {"name": NAME, "field": "id"}, "secret": KEY},
    "token": OAUTH,
    "token in the form": OAUTH | {"client_auth": "post"},
}
NEXT_URL = {"type": "next_url", "next_path": "$.next"}
LINK = {"type": "link_header"}


class Blabbing:
    """Gives three pages; `last` answers the third."""

    def __init__(self, server: HTTPServer, last: Callable[[str], Any]) -> None:
        self.server, self.last = server, last
        self.asked: list[str] = []
        server.expect_request("/token").respond_with_handler(self._token)
        server.expect_request("/orders").respond_with_handler(self._page)

    def _token(self, request: Request) -> Response:
        self.asked.append("token")
        answer = {
            "access_token": f"t0ken-{len(self.asked)}",
            "echo": request.get_data(as_text=True),
        }
        return Response(json.dumps(answer), headers={"X-Echo": str(request.authorization)})

    def _page(self, request: Request) -> Response:
        page = int(request.args.get("page", "1"))
        self.asked.append(str(page))
        found = (request.headers.get("Authorization"), request.headers.get("X-Api-Key"))
        echo = quote_plus("|".join([*filter(None, found), request.args.get("key", "")]))
        if page > 1 and quote_plus(request.args["echo"]) != echo:
            return Response("the link is another one", status=410)
        link = self.server.url_for(f"/orders?page={page + 1}&echo={echo}")
        if page == 3:
            found = self.last(link)
            return found if isinstance(found, Response) else json_page(page, found)
        response = json_page(page, link)
        response.headers["Link"] = f'<{link}>; rel="next"'
        return response


def json_page(page: int, link: str | None) -> Response:
    body = {"items": [{"id": page, "price": 1.0}], "next": link}
    return Response(json.dumps(body), content_type="application/json")


def configure(server: HTTPServer, auth: Any, paginator: Any, monkeypatch: Any) -> None:
    address = server.url_for("").rstrip("/")
    if auth["type"] == "oauth2_client_credentials":
        auth = auth | {"token_url": server.url_for("/token")}
    folder = Path(os.environ["LAKEKIT_CONFIG"])
    source = {"source": "shop", "base_url": "https://shop.example", "auth": auth}
    (folder / "sources/shop.yaml").write_text(json.dumps(source))
    contract = {
        "contract": "orders", "source": "shop",
        "endpoint": {"path": "/orders", "records": "$.items", "paginator": paginator},
        "schema": [{"name": "id", "type": "bigint"}, {"name": "price", "type": "double"}],
        "history": {"keys": ["id"]},
    }  # fmt: skip
    (folder / "contracts/orders.yaml").write_text(json.dumps(contract))
    monkeypatch.setenv("LAKEKIT_BASE_URLS", json.dumps({"shop": address}))
    monkeypatch.setattr("time.sleep", lambda _: None)
    boto3.client("secretsmanager").create_secret(Name=NAME, SecretString=json.dumps(SECRET))


def extract(account: Account, event: Any) -> tuple[list[Any], str]:
    """Run to the end, a page at a time; return results, and the text of what was raised."""
    account.may_read_secret("extract_pages", NAME)
    account.call("start_run", event("start_run"))
    results: list[Any] = [{"done": False, "continuation": None}]
    try:
        while not results[-1]["done"] and len(results) < 9:
            step = RUN | {"endpoint": "orders", "continuation": results[-1]["continuation"]}
            results.append(account.call("extract_pages", step, Context(seconds=70)))
    except Exception as error:
        return results, "".join(traceback.format_exception(error))
    return results, ""


def stored(account: Account) -> bytes:
    found = b""
    for name in account.names():
        body = account.s3.get_object(Bucket="landing", Key=name)["Body"].read()
        found += gzip.decompress(body) if name.endswith(".gz") else body
    return found


ENDS: dict[str, Callable[[str], Any]] = {
    "all came": lambda link: None,
    "refused": lambda link: Response(f"no {link}", status=400),
    "broken": lambda link: Response(f"no {link}", status=500),
    "throttled": lambda link: Response(link, status=429, headers={"Retry-After": "99999999"}),
    "sent away": lambda link: Response(
        status=302, headers={"Location": link.replace("localhost", "example.org")}
    ),
    "no address": lambda link: Response(status=302, headers={"Location": f"http://[{link}"}),
    "no JSON": lambda link: Response(link, content_type="application/json"),
    "cut off": lambda link: Response(link, headers={"Content-Length": "9999"}),
}


PAGINATORS = {"next_url": NEXT_URL, "link_header": LINK}
QUICK = [("query", "next_url", "all came"), ("token", "link_header", "broken")]
ALL = [
    *((way, paginator, end) for way in WAYS for paginator in PAGINATORS for end in list(ENDS)[:2]),
    *(("token", "next_url", end) for end in ENDS),
]
CASES = [
    *QUICK,
    *(
        pytest.param(*case, marks=pytest.mark.long)
        for case in dict.fromkeys(ALL)
        if case not in QUICK
    ),
]


@pytest.fixture
def run(
    account: Account,
    httpserver: HTTPServer,
    event: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[[str, str, str], tuple[bool, bool, list[str]]]:
    """Run to an end; return whether it was done, whether it raised, and the traces that it left."""

    def run_it(way: str, paginator: str, end: str) -> tuple[bool, bool, list[str]]:
        source = Blabbing(httpserver, ENDS[end])
        configure(httpserver, WAYS[way], PAGINATORS[paginator], monkeypatch)
        results, raised = extract(account, event)
        assert [page for page in source.asked if page != "token"][:3] == ["1", "2", "3"]
        printed = capsys.readouterr()
        everything = f"{printed.out}{printed.err}{raised}{results}".encode() + stored(account)
        return results[-1]["done"], bool(raised), [t for t in TRACES if t.encode() in everything]

    return run_it


@pytest.mark.parametrize(("way", "paginator", "end"), CASES)
def test_no_trace_is_left(run: Any, way: str, paginator: str, end: str) -> None:
    """dlt #2856, #1474: secrets are in logs and errors."""
    is_whole = end == "all came"

    assert run(way, paginator, end) == (is_whole, not is_whole, [])


def test_a_token_that_only_the_source_knows_is_in_no_error_and_no_log(
    account: Account,
    httpserver: HTTPServer,
    event: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = json_page(1, None)
    page.headers["Link"] = f'<{httpserver.url_for("/orders?page=2&token=opaque-1")}>; rel="next"'
    httpserver.expect_request("/orders").respond_with_response(page)
    configure(httpserver, WAYS["header"], {"type": "single_page"}, monkeypatch)
    account.call("start_run", event("start_run"))

    with pytest.raises(LakekitError) as caught:
        account.call("extract_pages", RUN | {"endpoint": "orders", "continuation": None})

    assert "opaque-" not in f"{caught.value}{capsys.readouterr()}"
