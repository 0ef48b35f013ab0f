"""What happens in a sandbox, as lines for its terminal: files at the inbox, and runs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lakekit import layout
from lakekit.aws.place import Place
from lakekit.cli.watch.texts import duration, outcome_lines
from lakekit.operate.find import short_name
from lakekit.operate.run_report import report_run
from lakekit.ports import ExecutionInfo
from lakekit.runs.documents import Run, read_optional

INBOX = "inbox/"
# So many runs at once are seen.
_MOST_RUNS = 50


class Feed:
    """Says what is new since the last look.

    Args:
        place: The sandbox.
        log: The log of the function that routes files, in which the reason of a refusal is.
        where: The option of commands that names the place.

    Attributes:
        faults: What could not be read and was said.
    """

    def __init__(self, place: Place, log: Path, where: str) -> None:
        self._place, self._store, self._where = place, place.flow.store, where
        self._log = log
        self._read = log.stat().st_size if log.is_file() else 0
        self._files: dict[str, str] = {}
        self._refused: set[tuple[str, str]] = set()
        self._running: dict[str, None] = {}
        self._ended: set[str] = set()
        self.faults: set[str] = set()

    @property
    def running(self) -> list[str]:
        """The runs that were at work when it was last looked."""
        return [*self._running]

    def news(self) -> Iterator[str]:
        """Yield lines about files and runs that are new, or that have ended."""
        yield from self._arrived()
        yield from self._not_routed()
        yield from self._runs()

    def _arrived(self) -> Iterator[str]:
        for info in self._store.list(INBOX):
            if info.key.endswith("/"):
                continue
            known = self._files.get(info.key)
            if known != info.etag:
                self._files[info.key] = info.etag
                yield f"file {info.key}: {info.size:,} bytes arrived"
            routed = f"{info.key} {info.etag}"
            if routed not in self._ended and self._store.head(
                layout.routed_key(info.key, info.etag)
            ):
                self._ended.add(routed)
                manifest = self._store.get(layout.routed_key(info.key, info.etag)).decode()
                yield f"file {info.key}: landed as {short_name(manifest)}"

    def _not_routed(self) -> Iterator[str]:
        """Yield why files were refused; each reason once, though they are tried again."""
        for line in self._lines():
            key, error = str(line.get("key")), str(line.get("error"))
            why = f"{error}: {str(line.get('cause', '')).removeprefix(f'{key}: ')}"
            if (key, why) not in self._refused:
                self._refused.add((key, why))
                yield f"file {key}: refused: {why}"

    def _lines(self) -> Iterator[dict[str, Any]]:
        if not self._log.is_file():
            return
        with self._log.open("rb") as stream:
            stream.seek(self._read)
            while (line := stream.readline()).endswith(b"\n"):
                self._read += len(line)
                if b'"not routed"' in line:
                    try:
                        yield json.loads(line)
                    except ValueError:
                        continue

    def _runs(self) -> Iterator[str]:
        for each in reversed([*self._place.log.newest(_MOST_RUNS)]):
            if each.name in self._ended:
                continue
            if each.name not in self._running:
                self._running[each.name] = None
                yield self._began(each)
            if each.ended_at:
                self._ended.add(each.name)
                self._running.pop(each.name)
                yield from self._outcome(each)

    def _began(self, run: ExecutionInfo) -> str:
        document = read_optional(self._store, layout.run_key(run.name), Run)
        request = self._place.log.details(run.name).request
        source = document.source.source if document else request.get("source", "unknown source")
        return f"run {run.name}: {source} began, started by a {request.get('origin', 'person')}"

    def _outcome(self, run: ExecutionInfo) -> Iterator[str]:
        yield from outcome_lines(report_run(self._store, run.name), self._where)
        word = "done" if run.status == "SUCCEEDED" else run.status.lower().replace("_", " ")
        seconds = (run.ended_at - run.started_at).total_seconds() if run.ended_at else 0
        yield f"run {run.name}: {word} in {duration(seconds)}"
        if word == "failed":
            details = self._place.log.details(run.name)
            yield f"  {details.error}: {(details.cause or '')[:300]}"
