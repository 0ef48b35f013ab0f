"""The runs of a local landing, as a service would list them; see `lakekit.ports.ExecutionLog`."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

from lakekit import layout
from lakekit.errors import LandingCorruptError, NewerDocumentError
from lakekit.local.run.store import FolderObjectStore
from lakekit.ports import ExecutionDetails, ExecutionInfo
from lakekit.runs.documents import FailureRecord, Run, read_document, read_optional

_FAILURES = ("failure", "-failure.json")


class RunLog:
    """What the documents of runs say; a run that has not ended counts as stopped."""

    def __init__(self, store: FolderObjectStore) -> None:
        self._store = store

    def newest(self, limit: int) -> Iterator[ExecutionInfo]:
        """Yield runs, the newest first, at most so many."""
        found = [run for name in self._store.folders(layout.RUNS) if (run := self._read(name))]
        for run in sorted(found, key=lambda each: each.started_at, reverse=True)[:limit]:
            yield self._info(run)

    def details(self, name: str) -> ExecutionDetails:
        """Return what is known of one run."""
        run, failure = self._read(name), next(self._failures(name), None)
        request = {"source": run.source.source} if run else {}
        return ExecutionDetails(
            request, failure.error if failure else None, failure.cause if failure else None
        )

    def _info(self, run: Run) -> ExecutionInfo:
        open_key = layout.open_run_key(run.source.source, run.run_id)
        status = "SUCCEEDED" if self._store.head(open_key) is None else "ABORTED"
        if any(self._failures(run.run_id)):
            status = "FAILED"
        return ExecutionInfo(run.run_id, status, run.started_at, self._ended(run.run_id))

    def _ended(self, name: str) -> datetime | None:
        documents = self._store.list(layout.run_prefix(name))
        return max((each.modified for each in documents if each.modified), default=None)

    def _failures(self, name: str) -> Iterator[FailureRecord]:
        prefix = layout.run_prefix(name)
        for info in self._store.list(prefix):
            key = info.key.removeprefix(prefix)
            if key.startswith(_FAILURES[0]) or key.endswith(_FAILURES[1]):
                yield read_document(self._store, info.key, FailureRecord)

    def _read(self, name: str) -> Run | None:
        with suppress(LandingCorruptError, NewerDocumentError):
            return read_optional(self._store, layout.run_key(name), Run)
        return None
