"""Whether a way of paging holds: its second page is asked for, as an extraction would."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.contract.endpoint.placeholders import RunValues
from lakekit.discover.paging import PagingGuess
from lakekit.errors import LakekitError, SourceThrottledError
from lakekit.extract import Answer, SourceClient, SourceRequest, extract_pages
from lakekit.extract.client import looks_accidental
from lakekit.models import describe_faults

MOST_PAGES = 2


class CachingClient(SourceClient):
    """A client that asks each thing once: what was answered before is the answer again."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._answers: dict[tuple[Any, ...], Answer] = {}

    def send(
        self, request: SourceRequest, is_odd: Callable[[Answer], bool] = looks_accidental
    ) -> Answer:
        """Return the answer to one request; see `SourceClient.send`."""
        headers = tuple(sorted(request.headers.items()))
        asked = (request.url, tuple(sorted(request.params)), request.method, headers, request.body)
        if asked not in self._answers:
            found = super().send(request, is_odd)
            if found.large:
                found = replace(found, body=found.large.read(), large=None)
            self._answers[asked] = found
        return self._answers[asked]


@dataclass(frozen=True)
class Proof:
    """What two pages showed.

    holds: whether the second page has other records; None if the first page was the last one.
    pages: the records of each page that came.
    """

    holds: bool | None
    saw: str
    pages: tuple[tuple[bytes, ...], ...] = ()


def prove(
    source: Source,
    document: Mapping[str, Any],
    client: SourceClient,
    guess: PagingGuess,
    first: Sequence[bytes],
) -> Proof:
    """Ask for two pages.

    Args:
        source: Of the API.
        document: A contract without a paginator, whose parameters lack those that it sends.
        client: Sends the requests.
        guess: What is to be proven.
        first: The records of the address as a person gave it.

    Raises:
        SourceThrottledError: The API wants to be left alone.
    """
    endpoint = {**document["endpoint"], "paginator": guess.paginator}
    try:
        contract = Contract.model_validate({**document, "endpoint": endpoint})
    except ValidationError as error:
        fault = describe_faults(error, Contract, "contract").splitlines()[0]
        return Proof(False, fault)
    now = datetime.now(UTC)
    pages: list[tuple[bytes, ...]] = []
    try:
        for page in extract_pages(source, contract, client, RunValues(now, now, "dev")):
            pages.append(tuple(page.records))
            if len(pages) == MOST_PAGES:
                break
    except SourceThrottledError as error:
        raise client.redacted_error(error) from None  # further ways would be refused, too
    except LakekitError as error:
        return Proof(False, str(client.redacted_error(error)), tuple(pages))
    return _judged(pages, first)


def _judged(pages: Sequence[tuple[bytes, ...]], first: Sequence[bytes]) -> Proof:
    if first and pages[0] != tuple(first) and not {*pages[0]} & {*first}:
        return Proof(False, "its first page has other records than the address has", (*pages,))
    if len(pages) < MOST_PAGES:
        return Proof(None, "the first page is the last one", (*pages,))
    again = len({*pages[1]} & {*pages[0]})
    if not pages[1]:
        return Proof(None, "the second page is empty: the first one has all records", (*pages,))
    if again:
        return Proof(False, f"{again} of {len(pages[1])} records of the second page are those of "
                     "the first one", (*pages,))  # fmt: skip
    return Proof(True, f"the second page has {len(pages[1])} other records", (*pages,))
