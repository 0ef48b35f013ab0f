"""The procedures that keep a table healthy."""

from datetime import datetime

from lakekit.sql.identifiers import literal, quote


def _call(table: str, procedure: str, **arguments: str) -> str:
    catalog, name = table.split(".", 1)
    pairs = ", ".join(f"{key} => {value}" for key, value in arguments.items())
    return f"CALL {quote(catalog)}.system.{procedure}(table => {literal(name)}, {pairs})"


def rewrite_data_files(table: str, *, min_input_files: int) -> str:
    """Return the compaction of small files and of files with many deletes."""
    options = (
        f"map('min-input-files', '{min_input_files}', 'delete-ratio-threshold', '0.2', "
        "'remove-dangling-deletes', 'true')"
    )
    return _call(table, "rewrite_data_files", options=options)


def rewrite_manifests(table: str) -> str:
    """Return the regrouping of manifests by partition, so that history is not planned."""
    return _call(table, "rewrite_manifests", use_caching="false")


def expire_snapshots(table: str, *, older_than: datetime, retain_last: int) -> str:
    """Return the expiry of old snapshots; `older_than` is UTC, without zone.

    The driver gets the files that go in pieces; all paths of a large table would fill its memory.
    """
    return _call(
        table, "expire_snapshots", older_than=_timestamp(older_than),
        retain_last=str(retain_last), stream_results="true",
    )  # fmt: skip


def remove_orphan_files(table: str, *, older_than: datetime, prefix_listing: bool) -> str:
    """Return the removal of files that no snapshot knows; `older_than` is UTC, without zone."""
    listing = "true" if prefix_listing else "false"
    return _call(
        table, "remove_orphan_files", older_than=_timestamp(older_than), prefix_listing=listing
    )


def _timestamp(time: datetime) -> str:
    return f"TIMESTAMP {literal(time.isoformat(sep=' ', timespec='microseconds'))}"
