from datetime import timedelta

import pytest

from lakekit.contract.contract import Maintenance
from lakekit.health import Measures, PartitionFiles, due_actions, left_by
from lakekit.table_properties import MaintenanceProperty
from tests.unit.runs.kit import NOON

LIMITS = Maintenance()
NOTHING_LEFT = MaintenanceProperty()
WEEK = timedelta(days=7)


def partition(
    data_files: int = 20, small_files: int = 0, delete_files: int = 0, fingerprint: int = 1
) -> PartitionFiles:
    return PartitionFiles(fingerprint, data_files, small_files, delete_files)


def measures(
    *partitions: PartitionFiles,
    manifests: int = 1,
    expirable: int = 0,
    deletes_files: bool = True,
    left: MaintenanceProperty = NOTHING_LEFT,
) -> Measures:
    return Measures(partitions, manifests, 9, expirable, deletes_files, left)


def due(found: Measures) -> list[str]:
    return due_actions(LIMITS, found, NOON)


def recorded(found: Measures, action: str) -> Measures:
    return found._replace(left=left_by(action, LIMITS, found, NOON))


@pytest.mark.parametrize("found", [measures(), measures(partition()), measures(expirable=5)])
def test_nothing_is_due_in_a_healthy_table(found: Measures) -> None:
    assert due(found) == []


@pytest.mark.parametrize(
    ("partitions", "is_due"),
    [
        ([partition(small_files=11)], False),
        ([partition(small_files=12)], True),
        # Together they have more than one of them may have.
        ([partition(small_files=11), partition(small_files=11)], False),
        ([partition(small_files=1), partition(small_files=12)], True),
        ([partition(data_files=2, delete_files=2)], False),
        ([partition(data_files=2, delete_files=3)], True),
        ([partition(data_files=9), partition(data_files=2, delete_files=3)], True),
    ],
)
def test_the_worst_partition_decides_on_compaction(
    partitions: list[PartitionFiles], is_due: bool
) -> None:
    assert due(measures(*partitions)) == ["rewrite_data_files"] * is_due


def test_a_partition_that_compaction_left_as_it_is_waits_until_it_changes() -> None:
    full, deleted = partition(small_files=12), partition(1, delete_files=2, fingerprint=2)
    found = recorded(measures(full, deleted), "rewrite_data_files")

    assert due(found) == []
    assert due(found._replace(partitions=(deleted,))) == []
    changed = full._replace(fingerprint=3)
    assert due(found._replace(partitions=(changed, deleted))) == ["rewrite_data_files"]


def test_a_compaction_replaces_what_earlier_ones_left() -> None:
    before = recorded(measures(partition(small_files=12)), "rewrite_data_files")
    after = recorded(before._replace(partitions=(partition(),)), "rewrite_data_files")

    assert after.left == NOTHING_LEFT


@pytest.mark.parametrize(("manifests", "is_due"), [(100, False), (101, True)])
def test_many_manifests_are_rewritten(manifests: int, is_due: bool) -> None:
    assert due(measures(manifests=manifests)) == ["rewrite_manifests"] * is_due


def test_manifests_that_cannot_be_fewer_wait_until_as_many_have_come() -> None:
    found = recorded(measures(manifests=150), "rewrite_manifests")

    assert due(found._replace(manifests=250)) == []
    assert due(found._replace(manifests=251)) == ["rewrite_manifests"]


def test_expiry_waits_until_more_snapshots_can_go_than_are_kept() -> None:
    listed = recorded(measures(expirable=5), "remove_orphan_files")

    assert due(listed) == []
    assert due(listed._replace(expirable=6)) == ["expire_snapshots"]


def test_orphans_are_looked_for_with_the_first_expiry_then_once_a_week() -> None:
    first = measures(expirable=6)
    assert due(first) == ["expire_snapshots", "remove_orphan_files"]

    later = recorded(first._replace(expirable=0), "remove_orphan_files")
    assert due_actions(LIMITS, later, NOON + WEEK - timedelta(seconds=1)) == []
    assert due_actions(LIMITS, later, NOON + WEEK) == ["remove_orphan_files"]


def test_a_table_that_keeps_its_files_is_not_searched_for_orphans() -> None:
    found = recorded(measures(deletes_files=False), "remove_orphan_files")

    assert due_actions(LIMITS, found, NOON + WEEK) == []


def test_the_health_of_a_table_is_that_of_its_partitions_together() -> None:
    health = measures(partition(3, 2, 1), partition(4, 4), manifests=7, expirable=1).health

    assert (health.data_files, health.small_files, health.delete_files) == (7, 4, 1)
    assert (health.manifests, health.snapshots, health.expirable) == (7, 9, 1)
