"""The text of the procedures."""

from datetime import datetime

from lakekit.sql.maintenance import expire_snapshots, partition_files


def test_expiry_hands_its_files_to_the_driver_in_pieces():
    """iceberg #3703: all of them at once fill its memory."""
    text = expire_snapshots("lake.local.t", older_than=datetime(2026, 1, 1), retain_last=1)

    assert text == (
        "CALL `lake`.system.expire_snapshots(table => 'local.t', "
        "older_than => TIMESTAMP '2026-01-01 00:00:00.000000', retain_last => 1, "
        "stream_results => true)"
    )


def test_files_are_measured_by_partition_only_where_there_are_partitions():
    """The metadata of a table without partition fields have no such column."""
    text = partition_files("lake.local.t", small_bytes=9, partitioned=False)

    assert "FROM `lake`.`local`.`t`.entries" in text
    assert "data_file.partition" not in text
    assert "data_file.partition" in partition_files("lake.local.t", small_bytes=9, partitioned=True)
