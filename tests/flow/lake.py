"""The sources of a simulated environment, their contracts, and what their landings hold.

What a landing means to the stand-in of a merge is in the prices of its records: below zero, a guard
refuses it; zero, it repeats what the table has.
"""

import json
from collections.abc import Callable
from random import Random
from typing import Any

from lakekit.config.source import Source, load_source
from lakekit.contract.contract import Contract, load_contract
from lakekit.errors import (
    SourceRejectedError,
    SourceThrottledError,
    SourceUnavailableError,
)
from lakekit.extract import Answer, SourceRequest
from tests.flow.weather import Weather
from tests.unit.runs.kit import OpenClient

SHOP, DROPS = "shop", "drops"
PLAIN, REPEATED, DELETING, BROKEN = "plain", "repeated", "deleting", "broken"
_CONTRACT = """
contract: {name}
source: {source}
endpoint:
  path: /{name}
  records: $.items
  extract: {extract}
  paginator: {{type: page_number, total_path: $.pages}}
schema:
  - {{name: id, type: bigint}}
  - {{name: price, type: double}}
  - {{name: at, type: timestamp}}
history: {{keys: [id]{sequence}}}
maintenance: {{small_files_threshold: 6}}
"""
_ORDERED = ", sequence_by: at"


def contract_of(source: str, name: str, extract: str, sequence: str = "") -> Contract:
    """Return the contract of a table; `sequence` continues its history section."""
    text = _CONTRACT.format(source=source, name=name, extract=extract, sequence=sequence)
    return load_contract(text)


SOURCES: dict[str, Source] = {
    name: load_source(f"source: {name}\nbase_url: https://{name}.example") for name in (SHOP, DROPS)
}
CONTRACTS: dict[str, tuple[Contract, ...]] = {
    SHOP: (
        contract_of(SHOP, "orders", "full"),
        contract_of(SHOP, "prices", "incremental", _ORDERED),
        contract_of(SHOP, "visits", "incremental"),
    ),
    DROPS: (
        contract_of(DROPS, "events", "incremental", _ORDERED),
        contract_of(DROPS, "days", "incremental"),
        contract_of(DROPS, "stock", "full"),
    ),
}


# What stands where a broken table was: its types cannot become those of a contract.
OTHER = load_contract(
    _CONTRACT.format(source=SHOP, name="other", extract="full", sequence="").replace(
        "type: double", "type: boolean"
    )
)
# One of each source that may be broken: in order of its extracts, and not.
BROKEN_TABLES = ("prices", "stock")


class Records:
    """Makes records, each with an id of its own."""

    def __init__(self, random: Random, weather: Weather) -> None:
        self._random, self._weather = random, weather
        self._last = 0

    def kind(self) -> str:
        """Return what a new landing is."""
        if self._random.random() < self._weather.refused:
            return self._random.choice((DELETING, BROKEN))
        return REPEATED if self._random.random() < self._weather.repeated else PLAIN

    def make(self, kind: str, count: int) -> list[Any]:
        """Return records of a kind."""
        price = {PLAIN: 1, REPEATED: 0, DELETING: -1, BROKEN: 1}[kind]
        records: list[Any] = []
        for _ in range(count):
            self._last += 1
            records.append({"id": self._last, "price": price, "at": "2026-01-01T00:00:00Z"})
        return [*records, "no record"] if kind == BROKEN else records


class Api(OpenClient):
    """A source of two pages; its answers fail now and then."""

    def __init__(
        self,
        sleep: Callable[[float], None],
        inject: Callable[[str], None],
        random: Random,
        weather: Weather,
        records: Records,
    ) -> None:
        self._sleep, self._inject = sleep, inject
        self._random, self._weather, self._records = random, weather, records
        self.calls = 0
        self._kind = records.kind()

    def send(self, request: SourceRequest) -> Answer:
        """Answer one request."""
        self._sleep(self._random.uniform(0.1, 2))
        if self._random.random() < self._weather.source_fails:
            error = self._random.choice(
                (SourceThrottledError, SourceUnavailableError, SourceRejectedError)
            )
            self._inject(error.__name__)
            wants_a_pause = error is SourceThrottledError
            raise error(request.url, 90.0) if wants_a_pause else error(request.url)
        body = {"items": self._records.make(self._kind, 2), "pages": 2}
        return Answer(request.url, 200, {}, json.dumps(body).encode())


def kind_of(lines: list[bytes]) -> str:
    """Return what a landing is, by its records."""
    prices = [json.loads(line)["price"] for line in lines if line.startswith(b"{")]
    if any(price < 0 for price in prices):
        return DELETING
    return PLAIN if any(prices) else REPEATED
