"""How a table fares by its metadata, which maintenance is due, and what maintenance did. Pure."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from lakekit.contract.contract import Maintenance
from lakekit.models import Model
from lakekit.table_properties import MaintenanceProperty

# Share of the target size below which a data file is small.
SMALL = 0.75
MANY_MANIFESTS = 100
ORPHANS_EVERY = timedelta(days=7)

REWRITE_DATA_FILES = "rewrite_data_files"
REWRITE_MANIFESTS = "rewrite_manifests"
EXPIRE_SNAPSHOTS = "expire_snapshots"
REMOVE_ORPHAN_FILES = "remove_orphan_files"
# In the order that leaves least behind.
ACTIONS = (REWRITE_DATA_FILES, REWRITE_MANIFESTS, EXPIRE_SNAPSHOTS, REMOVE_ORPHAN_FILES)


class PartitionFiles(NamedTuple):
    """The files of one partition that its rows are read from.

    fingerprint: the same as long as these files are the same. delete_files: those that touch one of
    its data files.
    """

    fingerprint: int
    data_files: int
    small_files: int
    delete_files: int


class Health(Model):
    """What the metadata of a table say, without reading data.

    small_files: data files below three quarters of the target size, in the partition that has
    most of them. delete_files: those that touch a data file. manifests: of the current snapshot.
    expirable: snapshots that expiry would remove, so none that a branch or tag keeps.
    """

    data_files: int
    small_files: int
    delete_files: int
    manifests: int
    snapshots: int
    expirable: int


class Maintained(Model):
    """What maintenance did to one Iceberg table, and its health before and after."""

    table: str
    actions: tuple[str, ...]
    before: Health
    after: Health


class Measures(NamedTuple):
    """What decides which maintenance of a table is due; see `Health` for the counts.

    deletes_files: whether the table lets maintenance delete files. left: what it left before.
    """

    partitions: tuple[PartitionFiles, ...]
    manifests: int
    snapshots: int
    expirable: int
    deletes_files: bool
    left: MaintenanceProperty

    @property
    def health(self) -> Health:
        """The measures of the whole table."""
        return Health(
            data_files=sum(each.data_files for each in self.partitions),
            small_files=max((each.small_files for each in self.partitions), default=0),
            delete_files=sum(each.delete_files for each in self.partitions),
            manifests=self.manifests,
            snapshots=self.snapshots,
            expirable=self.expirable,
        )


def due_actions(limits: Maintenance, measures: Measures, now: datetime) -> list[str]:
    """Return which maintenance of a table is due, in its order.

    MergeScd2 asks whether to start the job, and the job asks what to do. What an action could not
    cure is left until it changes.
    """
    left = measures.left
    uncompacted = set(_uncompacted(limits, measures)) - set(left.uncompacted)
    expiring = measures.expirable > limits.snapshots.min_to_keep
    removed = left.orphans_removed
    orphans = expiring if removed is None else now - removed >= ORPHANS_EVERY
    due = {
        REWRITE_DATA_FILES: bool(uncompacted),
        REWRITE_MANIFESTS: measures.manifests - left.manifests > MANY_MANIFESTS,
        EXPIRE_SNAPSHOTS: expiring,
        REMOVE_ORPHAN_FILES: orphans and measures.deletes_files,
    }
    return [action for action, is_due in due.items() if is_due]


def left_by(
    action: str, limits: Maintenance, measures: Measures, now: datetime
) -> MaintenanceProperty:
    """Return what is to be recorded after an action, by which the table was measured again."""
    changes: dict[str, dict[str, Any]] = {
        REWRITE_DATA_FILES: {"uncompacted": tuple(sorted(_uncompacted(limits, measures)))},
        REWRITE_MANIFESTS: {"manifests": measures.manifests},
        REMOVE_ORPHAN_FILES: {"orphans_removed": now},
    }
    return measures.left.model_copy(update=changes.get(action, {}))


def _uncompacted(limits: Maintenance, measures: Measures) -> Iterator[int]:
    """Yield the fingerprints of the partitions that ask for a compaction."""
    for each in measures.partitions:
        many = each.small_files >= limits.small_files_threshold
        if many or each.delete_files > each.data_files:
            yield each.fingerprint
