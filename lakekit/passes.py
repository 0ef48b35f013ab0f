"""One pass over several landings of a table: which ones may be merged together.

The history is then as if each had been merged alone.

A pass is a run of its own: it has a branch, journal entries and a snapshot. The snapshot names the
runs of its landings, so that each of them is published. The time of a record is that of its own
landing (`landed_at` in `spark/read/lines.py`). Of two records of one event time the later landing
has the one that counts, as if it had come later.
"""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from lakekit.batch import Batch
from lakekit.contract.contract import Contract
from lakekit.table_properties import RUN_ID

# Names of so many runs are in the summary of a snapshot, which each commit writes again.
MOST_LANDINGS = 100
# Of unpacked records. A job that fails in a pass has merged nothing of it.
MOST_BYTES = 2_000_000_000
_PREFIX = "pass-"


def passes(contract: Contract, batches: Sequence[Batch]) -> Iterator[tuple[Batch, ...]]:
    """Yield which consecutive batches may be merged in one pass, in their order."""
    for (_, together), found in groupby(batches, lambda batch: _kind(contract, batch)):
        group: list[Batch] = []
        for batch in found:
            if group and not (together and _fits(group, batch)):
                yield tuple(group)
                group = []
            group.append(batch)
        yield tuple(group)


def _fits(group: Sequence[Batch], batch: Batch) -> bool:
    sizes = [each.bytes for each in (*group, batch)]
    known = [size for size in sizes if size is not None]
    return len(group) < MOST_LANDINGS and known == sizes and sum(known) <= MOST_BYTES


def _kind(contract: Contract, batch: Batch) -> tuple[str, bool]:
    """Return what batches of one pass share, and whether there is more than one in it.

    Where a sequence orders all records, and late ones find their place, it is the same whether
    they come one landing after the other or at once. An absence holds at the time of its extract,
    and what a person has let pass is judged by itself.
    """
    together = contract.history.exact and batch.extract != "full" and not batch.approved
    return batch.extract, together


def as_pass(batches: Sequence[Batch]) -> Batch:
    """Return several batches as the one that is merged."""
    names = "\n".join(batch.run_id for batch in batches)
    sizes = [batch.bytes for batch in batches]
    return Batch(
        run_id=f"{_PREFIX}{hashlib.sha256(names.encode()).hexdigest()[:16]}",
        extract=batches[0].extract,
        extraction_time=max(batch.extraction_time for batch in batches),
        files=tuple(file for batch in batches for file in batch.files),
        bytes=None if None in sizes else sum(size or 0 for size in sizes),
    )


def pass_in(summary: Any) -> str | None:
    """Return the pass that made a snapshot, by its summary (anything with `get`)."""
    run_id = summary.get(RUN_ID)
    return run_id if run_id and is_pass(run_id) else None


def is_pass(run_id: str) -> bool:
    """Say whether an id is that of a pass."""
    return run_id.startswith(_PREFIX)
