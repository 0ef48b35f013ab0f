"""What is measured: shapes of data, and the sets of them behind the commands."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

Extract = Literal["full", "incremental"]
KeyType = Literal["bigint", "string", "composite"]
QUICK_KEYS, FULL_KEYS = 50_000, 2_000_000
# Keys up to which the independent model takes seconds.
MODEL_LIMIT = 2_000


@dataclass(frozen=True)
class Workload:
    """One shape of data and the batches that are merged into it.

    Attributes:
        keys: Current keys at the start.
        history: Closed versions per key at the start.
        changed: Share of the current keys with new content in every batch.
        new: Share of new keys, relative to the current ones.
        deleted: Share of deleted keys; only a full extract shows them.
        batch: Records of an incremental batch, relative to the current keys; a full one has all.
        null_flips: Share of the changes that only turn one column from or to null.
        sequence: Whether the records say when they changed: some time of the day before their
            extraction. It begins their versions (`sequence_by`).
        other_bytes: Whether a record that says the same has other bytes in every batch.
        mixed: Whether the rows of the starting table are in no order, as in a table that grew by
            many loads and was compacted: each row group then has current versions. Otherwise the
            closed versions come first; a reader of the current ones skips most of them even if
            the table is not partitioned.
        runs: Timed batches, after those to warm up.
        warm_up: Batches before them, while Java's compilers are still at work.
    """

    keys: int
    history: int = 4
    changed: float = 0.01
    extract: Extract = "full"
    new: float = 0.001
    deleted: float = 0.001
    batch: float = 0.02
    null_flips: float = 0.1
    key_type: KeyType = "bigint"
    seed: int = 7
    sequence: bool = False
    other_bytes: bool = False
    mixed: bool = True
    runs: int = 3
    warm_up: int = 1

    @property
    def name(self) -> str:
        """A name that a person reads in the table."""
        key = "" if self.key_type == "bigint" else f", {self.key_type} key"
        keys = f"{self.keys / 1e6:g} M" if self.keys >= 1_000_000 else f"{self.keys / 1e3:g} k"
        what = "unchanged" if not self.changed else f"{self.changed * 100:g} % changed"
        what += ", with a sequence" if self.sequence else ""
        what += ", other bytes" if self.other_bytes else ""
        what += "" if self.mixed else ", closed versions apart"
        return f"{keys} keys{key}, {self.history} closed versions, {self.extract}, {what}"

    @property
    def batches(self) -> int:
        """All batches, the first ones to warm up."""
        return self.warm_up + self.runs

    def as_dict(self) -> dict[str, Any]:
        """Return the parameters, for the summary and for what identifies the data."""
        return asdict(self)


def shape(keys: int, history: int, changed: float, extract: Extract, **rest: Any) -> Workload:
    """Return a workload whose new and deleted keys are a tenth of the changed ones."""
    deleted = changed / 10 if extract == "full" else 0.0
    return Workload(
        keys, history, changed, extract,
        new=changed / 10, deleted=deleted, batch=min(1.0, 2 * changed or 0.02), **rest,
    )  # fmt: skip


def quick(keys: int = QUICK_KEYS) -> list[Workload]:
    """Return the set that two cores finish in five minutes; most of it is preparation."""
    return [
        shape(MODEL_LIMIT, 4, 0.1, "full"),
        shape(keys, 4, 0.01, "full"),
        shape(keys, 4, 0.01, "incremental"),
    ]


def full(keys: int = FULL_KEYS, largest: int = 5_000_000) -> list[Workload]:
    """Return the sweeps: history, share changed, size and key type, full and incremental."""
    return list(dict.fromkeys(_sweeps(keys, largest)))


def _sweeps(keys: int, largest: int) -> Iterator[Workload]:
    extracts: tuple[Extract, ...] = ("full", "incremental")
    yield from (shape(MODEL_LIMIT, 4, 0.1, extract) for extract in extracts)
    for extract in extracts:
        yield from (shape(keys, history, 0.01, extract) for history in (0, 1, 4, 9))
    for extract in extracts:
        shares = (0.0, 0.0001, 0.001, 0.01, 0.1, 1.0)
        yield from (shape(keys // 4, 4, changed, extract) for changed in shares)
    yield shape(keys, 4, 0.0, "full")
    yield shape(keys, 4, 0.01, "full", other_bytes=True)
    yield from (shape(keys // 4, 4, 0.01, extract, sequence=True) for extract in extracts)
    for extract in extracts:
        sizes = (10_000, 100_000, 1_000_000, largest)
        yield from (shape(size, 1, 0.01, extract) for size in sizes)
    kinds: tuple[KeyType, ...] = ("bigint", "string", "composite")
    yield from (shape(keys // 4, 4, 0.01, "full", key_type=kind) for kind in kinds)
