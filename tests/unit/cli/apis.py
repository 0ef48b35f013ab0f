"""APIs as there are many, served from a function: for the tests of `add-source` and `try`."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

ADDRESS = "http://127.0.0.1"


class Asked(NamedTuple):
    """One request."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]
    base: str
    body: bytes = b""


class Reply(NamedTuple):
    """One answer; a body that is not bytes becomes JSON."""

    body: Any
    status: int = 200
    headers: dict[str, str] = {}


Serve = Callable[[Asked], Reply]


@contextmanager
def serving(serve: Serve, port: int = 0) -> Iterator[tuple[str, list[Asked]]]:
    """Serve an API on loopback; give its address and the requests that came."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {n: v[0] for n, v in parse_qs(parts.query, keep_blank_values=True).items()}
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            one = Asked(parts.path, query, headers, f"{ADDRESS}:{server.server_port}", body)
            asked.append(one)
            reply = serve(one)
            is_raw = isinstance(reply.body, bytes)
            body = reply.body if is_raw else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            named = {"Content-Type": "application/json", **reply.headers}
            for name, value in named.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"{ADDRESS}:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def customers(count: int = 7) -> list[dict[str, Any]]:
    return [
        {
            "id": 1000 + n,
            "name": f"Customer {n}",
            "email": None if n % 3 else f"c{n}@shop.example",
            "balance": f"{n}.50",
            "active": n % 2 == 0,
            "created": 1767225600 + n,
            "updated_at": f"2026-01-{n + 1:02d}T06:30:00Z",
            "address": {"city": "Oslo", "zip": "0150"},
            "tags": ["a", "b"] if n % 2 else [],
        }
        for n in range(count)
    ]


def github(asked: Asked) -> Reply:
    """Pages by the Link header."""
    size, page = int(asked.query.get("per_page", "3")), int(asked.query.get("page", "1"))
    found = customers()[(page - 1) * size : page * size]
    more = page * size < 7
    link = f'<{asked.base}{asked.path}?per_page={size}&page={page + 1}>; rel="next"'
    return Reply(found, headers={"Link": link} if more else {})


def stripe(asked: Asked) -> Reply:
    """A flag and the last id."""
    records, after = customers(), asked.query.get("starting_after")
    start = next((n + 1 for n, each in enumerate(records) if str(each["id"]) == after), 0)
    page = records[start : start + 3]
    return Reply({"object": "list", "data": page, "has_more": start + 3 < 7, "url": asked.path})


def odata(asked: Asked) -> Reply:
    skip = int(asked.query.get("$skip", "0"))
    body: dict[str, Any] = {"@odata.context": "x", "value": customers()[skip : skip + 3]}
    if skip + 3 < 7:
        body["@odata.nextLink"] = f"{asked.base}{asked.path}?$skip={skip + 3}"
    return Reply(body)


def numbered(asked: Asked) -> Reply:
    page = int(asked.query.get("page", "1"))
    found = customers()[(page - 1) * 3 : page * 3]
    return Reply({"page": page, "total_pages": 3, "results": found})


def spring(asked: Asked) -> Reply:
    """Pages that are counted from 0."""
    page = int(asked.query.get("page", "0"))
    found = customers()[page * 3 : (page + 1) * 3]
    return Reply({"content": found, "totalPages": 3, "number": page, "size": 3})


def offsets(asked: Asked) -> Reply:
    offset, limit = int(asked.query.get("offset", "0")), int(asked.query.get("limit", "3"))
    found = customers()[offset : offset + limit]
    return Reply({"items": found, "offset": offset, "limit": limit, "total": 7})


def texts_of_offsets(asked: Asked) -> Reply:
    """Offsets with all numbers as texts, and keys called uuid."""
    offset, limit = int(asked.query.get("offset", "0")), int(asked.query.get("limit", "3"))
    found = [{"uuid": f"0190-{n}", "label": f"L{n}"} for n in range(7)][offset : offset + limit]
    about = {"offset": str(offset), "limit": str(limit), "total": "7"}
    return Reply({"paging": about, "entries": found})


def silent_offsets(asked: Asked) -> Reply:
    """Offsets of which an answer says the number of all records alone."""
    offset, limit = int(asked.query.get("offset", "0")), int(asked.query.get("limit", "3"))
    return Reply({"total": "7", "items": customers()[offset : offset + limit]})


def cursors(asked: Asked) -> Reply:
    at = int(asked.query.get("cursor", "c0")[1:])
    after = f"c{at + 3}" if at + 3 < 7 else None
    return Reply({"customers": customers()[at : at + 3], "meta": {"next_cursor": after}})


def bare_pages(asked: Asked) -> Reply:
    """Pages of which no answer says that there are more."""
    page = int(asked.query.get("page", "1"))
    return Reply(customers()[(page - 1) * 3 : page * 3])


def worldbank(asked: Asked) -> Reply:
    page = int(asked.query.get("page", "1"))
    about = {"page": page, "pages": 3, "per_page": "3", "total": 7}
    return Reply([about, customers()[(page - 1) * 3 : page * 3]])


def json_api(asked: Asked) -> Reply:
    page = int(asked.query.get("page[number]", "1"))
    found = [{"type": "post", "id": str(n), "attributes": {"title": f"T{n}"}} for n in range(7)]
    more = f"{asked.base}{asked.path}?page[number]={page + 1}" if page * 3 < 7 else None
    return Reply({"data": found[(page - 1) * 3 : page * 3], "links": {"next": more}})


def google(asked: Asked) -> Reply:
    at = int(asked.query.get("pageToken", "t0")[1:])
    more = {"nextPageToken": f"t{at + 3}"} if at + 3 < 7 else {}
    return Reply({"kind": "list", "items": customers()[at : at + 3], **more})


def order_lines(asked: Asked) -> Reply:
    lines = [{"order_id": o, "line_no": n, "qty": 1.5} for o in (1, 2) for n in (1, 2, 3)]
    return Reply({"rows": lines})


def since(asked: Asked) -> Reply:
    """What has changed since a time."""
    after = asked.query.get("updated_since", "")
    return Reply({"data": [each for each in customers() if each["updated_at"] >= after]})


def single(asked: Asked) -> Reply:
    return Reply({"data": customers()})


def by_id(asked: Asked) -> Reply:
    records = customers()
    return Reply({str(each.pop("id")): each for each in records})


def csv_export(asked: Asked) -> Reply:
    rows = [f"{n:03d};Item {n};{n}.25;2026-01-0{n}" for n in range(1, 6)]
    text = "\n".join(["sku;Artikel Name;price;valid on", *rows, ""])
    return Reply(text.encode(), headers={"Content-Type": "text/csv; charset=utf-8"})


def ndjson(asked: Asked) -> Reply:
    body = "".join(f"{json.dumps(each)}\n" for each in customers()).encode()
    return Reply(body, headers={"Content-Type": "application/x-ndjson"})


def xml(asked: Asked) -> Reply:
    items = "".join(
        f'<item no="{n}"><title>T{n}</title><price>{n}.10</price></item>' for n in range(1, 4)
    )
    return Reply(f"<feed><items>{items}</items></feed>".encode(),
                 headers={"Content-Type": "application/xml"})  # fmt: skip


def graphql(asked: Asked) -> Reply:
    """Customers for a query by POST, and what GraphQL says of anything else."""
    if not asked.body:
        return Reply({"errors": [{"message": "Must provide query string."}]}, 400)
    at = int((json.loads(asked.body).get("variables") or {}).get("cursor", "0"))
    edges = [{"node": each} for each in customers()[at : at + 3]]
    info = {"endCursor": str(at + 3), "hasNextPage": at + 3 < 7}
    return Reply({"data": {"customers": {"edges": edges, "pageInfo": info}}})


def searched(asked: Asked) -> Reply:
    """Pages by a number in JSON, with the number of records as a text."""
    if not asked.body:
        return Reply({}, 405)
    page = json.loads(asked.body).get("pageNumber", 1)
    return Reply({"totalCount": "7", "items": customers()[(page - 1) * 3 : page * 3]})


def formed(asked: Asked) -> Reply:
    """Pages by a token in a form."""
    fields = {name: values[0] for name, values in parse_qs(asked.body.decode()).items()}
    at = int(fields.get("next_token", 0))
    return Reply({"items": customers()[at : at + 3], "next_token": str(at + 3) if at < 4 else ""})


def events(asked: Asked) -> Reply:
    """Pages behind a key that is not called id, each record alone in an object."""
    found = [{"event": {"event_id": n, "kind": "x"}} for n in range(1, 8)]
    left = found[int(asked.query.get("after_id", 0)) :]
    return Reply({"events": left[:3], "has_more": len(left) > 3})


def keyed_events(asked: Asked) -> Reply:
    reply = events(asked)
    return Reply({**reply.body, "events": [each["event"] for each in reply.body["events"]]})


def by_token(serve: Serve, client: str) -> Serve:
    """Return an API that wants a token, which it gives for a client by Basic."""

    def answer(asked: Asked) -> Reply:
        if asked.path == "/oauth/token":
            is_known = asked.headers.get("authorization") == client
            return Reply({"access_token": "t0k", "expires_in": 60}, 200 if is_known else 401)
        return guarded(serve, "Authorization", "Bearer t0k", "Bearer")(asked)

    return answer


def guarded(serve: Serve, header: str, value: str, challenge: str = "") -> Serve:
    """Return an API that wants a header."""

    def answer(asked: Asked) -> Reply:
        if asked.headers.get(header.lower()) == value:
            return serve(asked)
        headers = {"WWW-Authenticate": challenge} if challenge else {}
        return Reply({"message": "Requires authentication"}, 401, headers)

    return answer
