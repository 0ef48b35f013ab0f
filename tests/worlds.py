"""A source of its own for a test: an API on loopback, contracts, runs, tables."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from lakekit import layout
from lakekit.cli.readers import open_table
from lakekit.sandbox import Execution, Outcome, Sandbox

Record = dict[str, Any]
SOURCE = """
source: {source}
base_url: {url}
auth: {{type: api_key, secret: 'lakekit/{{environment}}/tests'}}
call_budget: {{max_requests_per_run: 100}}
"""
CONTRACT = """
contract: {table}
source: {source}
endpoint:
  path: /{table}
  records: $.items
  paginator: {{type: page_number, total_path: $.pages}}
schema:
  - {{name: id, type: int, required: true}}
  - {{name: city, type: string}}
history: {{keys: [id], max_deleted_ratio: 1}}
quality: {{max_rejected_ratio: 0.6}}
"""
COLUMNS = ("id", "city", "_valid_from", "_valid_to", "_is_current")
_numbers = count(1)


def until(what: Callable[[], Any], *, seconds: float = 60) -> Any:
    """Wait for a value that is true, and return it."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


class Api:
    """A server of the records of each endpoint, one page each; it answers with errors first."""

    def __init__(self, server: HTTPServer) -> None:
        self.url = server.url_for("").rstrip("/")
        self.pages: dict[str, list[list[Any]]] = {}
        self.faults: list[tuple[str, int, int, dict[str, str]]] = []
        # Answers wait for it; a test may clear it.
        self.open = Event()
        self.open.set()
        self.calls = 0
        server.expect_request("/", method="GET")
        server.respond_nohandler = self.answer  # type: ignore[method-assign]

    def break_page(
        self, table: str, page: int, status: int, *, times: int = 1, **headers: str
    ) -> None:
        """Let a page answer with an error that many times."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.faults += [(table, page, status, named)] * times

    def answer(self, request: Request, extra_message: str = "") -> Response:
        self.calls += 1
        self.open.wait(60)
        table, page = request.path.strip("/"), int(request.args.get("page", "1"))
        for fault in self.faults:
            if fault[:2] == (table, page):
                self.faults.remove(fault)
                return Response("no", fault[2], headers=fault[3])
        if table not in self.pages or request.headers.get("X-Api-Key") != "not-a-real-key":
            return Response("who?", 403)
        pages = self.pages[table]
        body = {"items": pages[page - 1], "pages": len(pages)}
        return Response(json.dumps(body), content_type="application/json")


class World:
    """One source and its tables in the sandbox."""

    def __init__(self, sandbox: Sandbox, config: Path, api: Api, tables: int) -> None:
        number = next(_numbers)
        self.sandbox, self.api = sandbox, api
        self.source = f"source{number}"
        self.tables = [f"t{number}_{chr(97 + i)}" for i in range(tables)]
        self.table = self.tables[0]
        self._runs = count(1)
        self._contracts = config / "contracts"
        names = {"source": self.source, "url": api.url}
        (config / "sources" / f"{self.source}.yaml").write_text(SOURCE.format(**names))
        for table in self.tables:
            text = CONTRACT.format(**names, table=table)
            (config / "contracts" / f"{table}.yaml").write_text(text)

    def serve(self, *pages: list[Record], table: str = "") -> None:
        """Choose the records of the API from now on."""
        self.api.pages[table or self.table] = list(pages)

    def change_contract(self, before: str, after: str) -> None:
        """Replace a part of the first table's contract."""
        path = self._contracts / f"{self.table}.yaml"
        assert before in path.read_text()
        path.write_text(path.read_text().replace(before, after))

    @contextmanager
    def without_contract(self) -> Iterator[None]:
        """Let the first table have no contract for a while."""
        path = self._contracts / f"{self.table}.yaml"
        away = path.with_suffix(".away")
        path.rename(away)
        yield
        away.rename(path)

    def notices(self) -> Callable[[], list[str]]:
        """Subscribe to the failure topic; return what reads the notices that came since."""
        sqs, name = self.sandbox.client("sqs"), f"{self.source}-notices"
        url = sqs.create_queue(QueueName=name)["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
        self.sandbox.client("sns").subscribe(
            TopicArn=self.sandbox.names["topics"]["failures"],
            Protocol="sqs",
            Endpoint=arn["QueueArn"],
        )

        def read() -> list[str]:
            found = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
            for each in found:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
            return [json.loads(each["Body"])["Message"] for each in found]

        return read

    def start(self, day: int) -> Execution:
        """Start a load of the given day of January 2026."""
        request = {"source": self.source, "extraction_time": f"2026-01-{day:02}T00:00:00Z"}
        name = f"{self.source}-run{next(self._runs)}"
        return self.sandbox.start("load_source", request, name=name)

    def load(self, day: int) -> Outcome:
        """Load to the end."""
        return self.sandbox.wait(self.start(day), timeout=120)

    def maintain(self) -> Any:
        """Maintain the source's tables; return what was done to the first."""
        name = f"{self.source}-care{next(self._runs)}"
        execution = self.sandbox.start("maintain_tables", {"source": self.source}, name=name)
        outcome = self.sandbox.wait(execution, timeout=120)
        assert outcome.status == "SUCCEEDED", outcome.cause
        return self.document(layout.result_key(name, "maintain_tables", self.table))

    def rows(self, table: str = "") -> list[tuple[Any, ...]]:
        """Return the whole table: id, city, day valid from and to, whether it is current."""
        found = self._table(table or self.table).scan(selected_fields=COLUMNS).to_arrow()
        return sorted(
            (r["id"], r["city"], r["_valid_from"].day, r["_valid_to"] and r["_valid_to"].day,
             r["_is_current"])
            for r in found.to_pylist()
        )  # fmt: skip

    def quarantined(self) -> list[Record]:
        """Return the quarantine table."""
        found = self._table(layout.quarantine_table(self.table)).scan().to_arrow().to_pylist()
        return list(found)

    def lease(self, owner: str | None = None) -> Any:
        """Return the lease of the first table; with an owner, give it to him for an hour."""
        key = layout.lease_key(self.table)
        if owner:
            until = datetime.now(UTC) + timedelta(hours=1)
            held = {"table": self.table, "owner": owner, "epoch": 99,
                    "expires_at": until.isoformat()}  # fmt: skip
            self.put(key, json.dumps(held).encode())
        return self.document(key)

    def snapshots(self) -> int:
        """Return how many commits the table has."""
        return len(self._table(self.table).snapshots())

    def keys(self, prefix: str) -> list[str]:
        """Return the landing bucket's keys under a prefix."""
        found = self.sandbox.client("s3").list_objects_v2(
            Bucket=self.sandbox.names["landing_bucket"], Prefix=prefix
        )
        return [each["Key"] for each in found.get("Contents", [])]

    def put(self, key: str, body: bytes) -> None:
        """Write an object of the landing bucket."""
        bucket = self.sandbox.names["landing_bucket"]
        self.sandbox.client("s3").put_object(Bucket=bucket, Key=key, Body=body)

    def document(self, key: str) -> Any:
        """Return a JSON object of the landing bucket."""
        bucket = self.sandbox.names["landing_bucket"]
        return json.load(self.sandbox.client("s3").get_object(Bucket=bucket, Key=key)["Body"])

    def marks(self) -> set[str]:
        """Return the markers of all landings of the source."""
        keys = self.keys(layout.source_prefix(self.source))
        return {
            "/".join(key.split("/")[-2:]) for key in keys if key.endswith((".pending", ".complete"))
        }

    def _table(self, table: str) -> Any:
        return open_table(self.sandbox.environment, f"{self.sandbox.names['database']}.{table}")
