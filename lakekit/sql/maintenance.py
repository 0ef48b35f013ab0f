"""The procedures that keep a table healthy, and the query that measures its files."""

from datetime import datetime

from lakekit.sql.identifiers import literal, quote, quote_table

# Iceberg's id of the column of a delete file that says which data file a deleted row is in.
_DELETED_IN = 2147483546


def _call(table: str, procedure: str, **arguments: str) -> str:
    catalog, name = table.split(".", 1)
    pairs = ", ".join(f"{key} => {value}" for key, value in arguments.items())
    return f"CALL {quote(catalog)}.system.{procedure}(table => {literal(name)}, {pairs})"


def partition_files(table: str, *, small_bytes: int, partitioned: bool) -> str:
    """Return the query of the files of each partition, by the metadata of main's snapshot.

    A delete file touches a data file if its partition has one that is not younger. That is what
    Iceberg removes delete files by. If it names one data file alone, then if that is there. It
    names it as deletion vectors do, or by the bounds of the paths in it.

    Args:
        table: Identifier of the table.
        small_bytes: Below so many a data file is small.
        partitioned: Whether the table has, or has had, partition fields.
    """
    place = "data_file.spec_id" + (", data_file.partition" if partitioned else "")
    lower = f"try_element_at(data_file.lower_bounds, {_DELETED_IN})"
    upper = f"try_element_at(data_file.upper_bounds, {_DELETED_IN})"
    return f"""
SELECT
  count_if(content = 0) AS data_files,
  count_if(content = 0 AND bytes < {small_bytes}) AS small_files,
  count_if(content > 0 AND touches) AS delete_files,
  coalesce(bit_xor(xxhash64(path)) FILTER (WHERE touches), 0L) AS fingerprint
FROM (
  SELECT
    content, path, bytes, place,
    content = 0 OR if(
      data_path IS NULL,
      -- An equality delete of a commit does not touch the data files of that commit.
      min(if(content = 0, sequence, NULL)) OVER (PARTITION BY place)
        <= sequence - if(content = 2, 1, 0),
      max(content = 0) OVER (PARTITION BY coalesce(data_path, path))
    ) AS touches
  FROM (
    SELECT
      data_file.content AS content,
      data_file.file_path AS path,
      data_file.file_size_in_bytes AS bytes,
      sequence_number AS sequence,
      struct({place}) AS place,
      coalesce(
        data_file.referenced_data_file,
        if({lower} = {upper}, decode({lower}, 'UTF-8'), NULL)
      ) AS data_path
    FROM {quote_table(table)}.entries
    WHERE status < 2
  )
)
GROUP BY place"""


def rewrite_data_files(table: str, *, min_input_files: int, target_bytes: int) -> str:
    """Return the compaction of small files and of files with many deletes."""
    options = (
        f"map('min-input-files', '{min_input_files}', 'delete-ratio-threshold', '0.2', "
        f"'remove-dangling-deletes', 'true', 'target-file-size-bytes', '{target_bytes}')"
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
