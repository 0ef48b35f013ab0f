"""Creates an export, follows it until it is ready, and reads its files."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from math import ceil
from typing import Any
from urllib.parse import urljoin

from pydantic import AwareDatetime

from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.contract.endpoint.export import EXPORT_ID, Export
from lakekit.contract.endpoint.paths import path_steps
from lakekit.contract.endpoint.placeholders import RunValues
from lakekit.errors import SourceRejectedError, SourceShapeError
from lakekit.extract.client import Answer, SourceClient, SourceRequest
from lakekit.extract.content.json_paths import JsonText, UnreadableError, value_of, values_along
from lakekit.extract.http.addresses import shown
from lakekit.extract.pages import Page, extract_pages
from lakekit.extract.requests import Requests
from lakekit.models import Model

LONGEST_POLL_SECONDS = 600


class _State(Model):
    """Between two requests. position: the number of the next file; None behind the last one.

    job: JSON of the export's id, or the address of its status. files: digest of the addresses of
    all files without their queries, which may be new each time.
    """

    position: int | None = 0
    created_at: AwareDatetime
    job: str
    files: str = ""


def _utc_now() -> datetime:
    return datetime.now(UTC)


def extract_export(
    source: Source,
    contract: Contract,
    client: SourceClient,
    values: RunValues,
    *,
    resume: dict[str, Any] | None = None,
    now: Callable[[], datetime] = _utc_now,
) -> Iterator[Page]:
    """Yield a page for each file of an export; before it is ready, empty ones with `wait_seconds`.

    Whoever goes on sooner than that asks for the state sooner. Addresses of files are not kept: to
    go on, they are asked for again.

    Raises:
        SourceRejectedError: The export failed, or is not ready by its deadline.
        SourceShapeError: An answer lacks what is declared, or the files are others than before;
            and what `extract_pages` raises for each file.
    """
    job = _Job(source, contract, client, values)
    state = _State.model_validate(resume) if resume else None
    if state is None:
        state = _State(created_at=now(), job=job.create())
        yield _page([], 0, state, job.export.poll_seconds)
    while (status := job.ready(state)) is None:
        age = (now() - state.created_at).total_seconds()
        if age > job.export.deadline_minutes * 60:
            raise SourceRejectedError(
                f"the export is not ready after {job.export.deadline_minutes} minutes; "
                "export: {deadline_minutes: …} waits longer"
            )
        # By its age, so that few events are enough for a long one.
        wait = max(job.export.poll_seconds, min(ceil(age / 10), LONGEST_POLL_SECONDS))
        yield _page([], state.position or 0, state, wait)
    files = job.files(state, status)
    digest = sha256("\n".join(map(shown, files)).encode()).hexdigest()[:32]
    if state.files and state.files != digest:
        raise SourceShapeError("the export has other files than when the first one was read")
    first = len(files) if state.position is None else state.position
    for number in range(first, len(files)):
        following = number + 1 if number + 1 < len(files) else None
        after = state.model_copy(update={"position": following, "files": digest})
        for page in job.pages(files[number]):
            yield _page(page.records, number + 1, after)


def _page(records: Any, number: int, state: _State, wait_seconds: int = 0) -> Page:
    return Page(records, number, state.model_dump(mode="json"), wait_seconds)


class _Job:
    """The requests of one export."""

    def __init__(
        self, source: Source, contract: Contract, client: SourceClient, values: RunValues
    ) -> None:
        if contract.endpoint.export is None:
            raise ValueError("the endpoint has no export")
        self.export: Export = contract.endpoint.export
        self._source, self._contract, self._client, self._values = source, contract, client, values

    def create(self) -> str:
        """Create the export; return its id as JSON, or the address of its status."""
        answer = self._client.send(self._requests().at(""))
        if name := self.export.status_url_header:
            self._refuse_status(answer, "creates the export")
            if not (address := str(answer.headers.get(name, "")).strip()):
                raise SourceShapeError(f"the answer that creates the export has no header {name}")
            return urljoin(answer.url, address)
        path = self.export.id_path or self.export.status_url_path or ""
        found = self._json(answer, "creates the export").at(path_steps(path))
        value = value_of(found, path)
        if isinstance(value, dict | list | float) or value in (None, ""):
            raise SourceShapeError(f"the answer that creates the export has no {path}")
        if found is None or self.export.id_path:
            return (found or b"").decode()
        return urljoin(answer.url, str(value))

    def ready(self, state: _State) -> JsonText | None:
        """Return the answer that says that the export is done; None as long as it is not."""
        answer = self._client.send(self._status(state))
        if answer.status == 202:
            return None
        what, path = "has the state of the export", self.export.state_path
        if path is None:
            self._refuse_status(answer, what)
            return JsonText(b"null") if self.export.download_path else self._json(answer, what)
        text = self._json(answer, what)
        found = value_of(text.at(path_steps(path)), path)
        if not isinstance(found, str | int):
            raise SourceShapeError(f"{path} should be the state of the export, and is {found!r}")
        if _is_among(found, self.export.failed):
            raise SourceRejectedError(f"the export ended as {found!r:.80}")
        return text if _is_among(found, self.export.done) else None

    def files(self, state: _State, status: JsonText) -> list[str]:
        """Return the addresses of the files."""
        export = self.export
        if export.download_path is not None:
            return [self._source.address + self._requests(state).path(export.download_path)]
        path = export.files_path or "$"
        found = [value_of(text, path) for text in _at(status, path)]
        files = [item for each in found for item in (each if isinstance(each, list) else [each])]
        if not files and self._contract.endpoint.absent_records == "fail":
            raise SourceShapeError(
                f"the export has no files under {path}; absent_records: empty takes it for no "
                "records"
            )
        if not all(isinstance(each, str) and each for each in files):
            raise SourceShapeError(f"{path} does not lead to addresses alone")
        if len({*files}) < len(files):
            raise SourceShapeError(f"{path} has an address twice")
        return [urljoin(self._status(state).url, each) for each in files]

    def pages(self, url: str) -> Iterator[Page]:
        """Yield what is in the file at an address."""
        file = _File(url, self.export.files_origin)
        return extract_pages(
            self._source, self._contract, self._client, self._values, requests=file
        )

    def _status(self, state: _State) -> SourceRequest:
        requests = self._requests(state)
        if self.export.status_path is None:
            return SourceRequest(state.job, headers=requests.headers)
        url = self._source.address + requests.path(self.export.status_path)
        return SourceRequest(url, headers=requests.headers)

    def _requests(self, state: _State | None = None) -> Requests:
        given = {EXPORT_ID: state.job.encode()} if state and self.export.id_path else {}
        values = self._values.with_given(given)
        return Requests(self._source.address, self._contract.endpoint, values)

    def _json(self, answer: Answer, what: str) -> JsonText:
        self._refuse_status(answer, what)
        body = answer.large.read() if answer.large else answer.body
        try:
            return JsonText(body)
        except UnreadableError as error:
            raise SourceShapeError(f"the answer that {what}: {error}") from None

    def _refuse_status(self, answer: Answer, what: str) -> None:
        if answer.status not in (200, 201, 202, 203):
            raise SourceShapeError(f"the answer that {what} has status {answer.status}")


class _File:
    """The request for one file."""

    def __init__(self, url: str, other_origin: str | None) -> None:
        self._request = SourceRequest(url, headers={"Accept": "*/*"}, other_origin=other_origin)

    def at(self, _: str | int) -> SourceRequest:
        """Return it, at the only position."""
        return self._request


def _at(text: JsonText, path: str) -> list[bytes]:
    try:
        return [*values_along(text.text, path_steps(path))]
    except (SourceShapeError, UnreadableError):
        return []


def _is_among(state: str | int, states: tuple[str | int, ...]) -> bool:
    return any(state == each and type(state) is type(each) for each in states)
