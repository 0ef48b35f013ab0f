"""The landing of a local warehouse: each run's files and contract, kept as they were received.

    {warehouse}/landing/{table}/contract.yaml    the contract of the table today
    {warehouse}/landing/{table}/{number}/    the files of one run
    {warehouse}/landing/{table}/{number}/run.json    what else a replay needs

A run is landed before it is merged, and marked as merged afterwards. If the merge fails, nothing is
kept of it.
"""

import fcntl
import shutil
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lakekit.batch import Batch
from lakekit.documents import Document
from lakekit.errors import LandingCorruptError, LateExtractError, TableBusyError
from lakekit.local.files import LandedFile, copy_in, verify

DOCUMENT = "run.json"
CONTRACT = "contract.yaml"
_PART = ".part"


class LandedRun(Document):
    """One run: batch.files are those that were given, files their copies."""

    contract: str
    batch: Batch
    files: tuple[LandedFile, ...]
    merged: bool = False


class Landing:
    """The landed runs of one table."""

    def __init__(self, warehouse: Path, table: str) -> None:
        self.folder = warehouse.resolve() / "landing" / table

    def keep_contract(self, text: str) -> None:
        """Keep the contract to which the table is brought now, be a run merged or not."""
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f"{CONTRACT}.part"
        part.write_text(text, encoding="utf-8")
        part.replace(self.folder / CONTRACT)

    def contract(self) -> str:
        """Return the contract of the table.

        Raises:
            LandingCorruptError: There is none.
        """
        path = self.folder / CONTRACT
        if not path.is_file():
            raise LandingCorruptError(f"{path}: not there; only merged tables can be rebuilt")
        return path.read_text(encoding="utf-8")

    def land(
        self,
        contract: str,
        batch: Batch,
        published: Container[str] = (),
        reads: Mapping[str, Path] | None = None,
    ) -> Batch:
        """Keep a run, and return its batch over the kept files that a merge reads.

        A run that was landed before and never merged takes a new place in the order, with the
        contract of today.

        Args:
            contract: Its text.
            batch: The run, with the files that were given.
            published: Runs that the table shows.
            reads: What a merge reads of each file, if that is not the file.
        """
        for place, run in self._runs():
            if run.batch.run_id != batch.run_id:
                continue
            if run.merged or batch.run_id in published:
                return _kept(place, run)
            shutil.rmtree(place)
        place = self._next()
        try:
            files = tuple(
                copy_in(Path(file), place, n, (reads or {}).get(file, Path(file)))
                for n, file in enumerate(batch.files)
            )
            run = LandedRun(contract=contract, batch=batch, files=files)
            _write(place, run)
        except OSError:
            # A file cannot be read, or the disk is full.
            shutil.rmtree(place)
            raise
        return _kept(place, run)

    def discard(self, run_id: str) -> None:
        """Remove a run whose merge has failed; with the last one the contract, too."""
        for place, run in self._runs():
            if run.batch.run_id == run_id and not run.merged:
                shutil.rmtree(place)
        if not self._runs():
            (self.folder / CONTRACT).unlink(missing_ok=True)

    def refuse_late(self, batch: Batch) -> None:
        """Raise if a run that is merged was extracted after a new one.

        The table itself does not show a run that changed nothing.

        Raises:
            LateExtractError: The run would undo what is known.
        """
        merged = [run.batch for _, run in self._runs() if run.merged]
        newest = max((each.extraction_time for each in merged), default=batch.extraction_time)
        known = batch.run_id in {each.run_id for each in merged}
        if not known and batch.extraction_time < newest:
            raise LateExtractError(
                f"run {batch.run_id}: its extraction time {batch.extraction_time.isoformat()} is "
                f"before {newest.isoformat()}, which is already merged"
            )

    def mark_merged(self, run_id: str) -> None:
        """Say that a run is merged."""
        for place, run in self._runs():
            if run.batch.run_id == run_id and not run.merged:
                _write(place, run.model_copy(update={"merged": True}))

    def merged_runs(self, published: Container[str]) -> list[tuple[str, Batch]]:
        """Return the contract and batch of each merged run, in their order, files checked.

        Args:
            published: Runs that the table shows; a crash may have come before their mark.

        Raises:
            LandingCorruptError: A file is missing or is not what was received.
        """
        runs = [
            (place, run)
            for place, run in self._runs()
            if run.merged or run.batch.run_id in published
        ]
        for place, run in runs:
            for file in run.files:
                verify(place / file.name, file)
        return [(run.contract, _kept(place, run)) for place, run in runs]

    @contextmanager
    def locked(self, *, waits: bool = False) -> Iterator[None]:
        """Keep others out: merges and rebuilds of the table in other processes.

        Args:
            waits: Whether to wait until none is at work.

        Raises:
            TableBusyError: One is at work.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
            except BlockingIOError:
                raise TableBusyError(
                    f"{self.folder.name}: a merge or another rebuild is at work"
                ) from None
            yield

    def _runs(self) -> list[tuple[Path, LandedRun]]:
        documents = sorted(
            self.folder.glob(f"*/{DOCUMENT}"), key=lambda path: int(path.parent.name)
        )
        return [(path.parent, _read(path)) for path in documents]

    def _next(self) -> Path:
        """Make the next run's folder; of two processes each gets its own."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = max((int(p.name) for p in self.folder.iterdir() if p.name.isdigit()), default=0)
        while True:
            number += 1
            try:
                place = self.folder / f"{number:06d}"
                place.mkdir()
            except FileExistsError:
                continue
            return place


def _kept(place: Path, run: LandedRun) -> Batch:
    files = tuple(str(place / file.read_as) for file in run.files)
    return run.batch.model_copy(update={"files": files})


def _read(path: Path) -> LandedRun:
    try:
        text = path.read_bytes()
    except OSError as error:
        raise LandingCorruptError(f"{path}: {error}") from None
    return LandedRun.parse(text, name=str(path))


def _write(place: Path, run: LandedRun) -> None:
    """Write a document whole or not at all."""
    part = place / f"{DOCUMENT}{_PART}"
    part.write_bytes(run.to_json())
    part.replace(place / DOCUMENT)
