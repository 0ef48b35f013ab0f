"""Walks through the pages of each parent, one parent after the other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.contract.endpoint.parent import PARENT, RECORD
from lakekit.contract.endpoint.placeholders import RunValues
from lakekit.errors import LakekitError, SourceShapeError
from lakekit.extract.client import SourceClient
from lakekit.extract.content.json_paths import is_json
from lakekit.extract.pages import Page, extract_pages
from lakekit.models import Model

Parent = Mapping[str, bytes]
_MOST_SHOWN = 200


class _State(Model):
    """Between two pages. position: the number of the parent, from 0; None behind the last one.

    pages: those of the parents before it. within: how to go on within it, if it was begun.
    parents: digest of all parents.
    """

    position: int | None = 0
    pages: int = 0
    within: dict[str, Any] | None = None
    parents: str = ""


def extract_children(
    source: Source,
    contract: Contract,
    client: SourceClient,
    values: RunValues,
    parents: Sequence[Parent],
    *,
    resume: dict[str, Any] | None = None,
) -> Iterator[Page]:
    """Yield the pages of all parents, after the page that gave `resume` if there is one.

    Each record is a line `{"parent": {…}, "record": …}` with its own text in it.

    Args:
        source: Where the endpoint is.
        contract: Of the child endpoint.
        client: Sends the requests.
        values: What placeholders stand for, a parent's fields aside.
        parents: The JSON text of each field of each parent; the same again to go on.
        resume: Where to go on.

    Raises:
        LakekitError: What `extract_pages` raises, with the parent named.
    """
    digest = sha256(b"\n".join(map(_object, parents))).hexdigest()[:32]
    state = _State.model_validate(resume) if resume else _State(parents=digest)
    if state.parents != digest:
        raise SourceShapeError("the parents are others than when the extraction began; start again")
    inner, asked = contract.of_answers, contract.endpoint.parent_fields
    first = len(parents) if state.position is None else state.position
    for number in range(first, len(parents)):
        parent, page = parents[number], None
        given = {f"{PARENT}.{name}": text for name, text in parent.items()}
        try:
            pages = extract_pages(
                source, inner, client, values.with_given(given), resume=state.within
            )
            for page in pages:
                yield _page_of(page, parent, state, number, number + 1 == len(parents))
        except LakekitError as error:
            named = _shown({name: parent[name] for name in asked})
            error.args = (f"parent {named}: {error.args[0] if error.args else ''}",)
            raise
        pages_so_far = state.pages + (page.number if page else 0)
        state = _State(position=number + 1, pages=pages_so_far, parents=digest)


def _page_of(page: Page, parent: Parent, state: _State, number: int, is_last: bool) -> Page:
    so_far = state.pages + page.number
    within = {"position": number, "pages": state.pages, "within": page.resume}
    behind = {"position": None if is_last else number + 1, "pages": so_far, "within": None}
    after = state.model_copy(update=behind if page.last else within)
    return Page(child_lines(parent, page.records), so_far, after.model_dump(mode="json"))


def child_lines(parent: Parent, records: Iterable[bytes]) -> Iterator[bytes]:
    """Yield each record with its parent next to it.

    A text that is not JSON, and would make a line that is, stays alone: it goes to the quarantine.

    Example:
        >>> [*child_lines({"id": b"7"}, [b'{"x": 1.10}'])]
        [b'{"parent":{"id":7},"record":{"x": 1.10}}']
    """
    before = b'{"%b":%b,"%b":' % (PARENT.encode(), _object(parent), RECORD.encode())
    for record in records:
        line = b"%b%b}" % (before, record)
        yield record if is_json(line) and not is_json(record) else line


def _object(fields: Parent) -> bytes:
    return b"{%b}" % b",".join(
        b"%b:%b" % (msgspec.json.encode(name), text) for name, text in fields.items()
    )


def _shown(fields: Parent) -> str:
    return _object(fields)[:_MOST_SHOWN].decode(errors="replace")
