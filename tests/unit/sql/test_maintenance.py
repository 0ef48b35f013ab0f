"""The text of the procedures."""

from datetime import datetime

from lakekit.sql.maintenance import expire_snapshots


def test_expiry_hands_its_files_to_the_driver_in_pieces():
    """iceberg #3703: all of them at once fill its memory."""
    text = expire_snapshots("lake.local.t", older_than=datetime(2026, 1, 1), retain_last=1)

    assert text == (
        "CALL `lake`.system.expire_snapshots(table => 'local.t', "
        "older_than => TIMESTAMP '2026-01-01 00:00:00.000000', retain_last => 1, "
        "stream_results => true)"
    )
