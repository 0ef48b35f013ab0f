"""The statements that close versions, and those of the branch they do it on."""

from collections.abc import Sequence
from datetime import datetime

from lakekit.sql.identifiers import ntz_literal, quote, quote_table, same_key
from lakekit.sql.line_hash import DIGEST

_DROP = "WHEN MATCHED AND s.`__drop` THEN DELETE"
# Only current versions are known by their lines: of those that close, no one reads the digests.
_CLOSE = (
    "WHEN MATCHED THEN UPDATE SET t.`_is_current` = false, t.`_valid_to` = s.`__at`, "
    + ", ".join(f"t.{quote(name)} = NULL" for name in DIGEST)
)


def branch_of(table: str, branch: str) -> str:
    """Return the quoted identifier that writes to and reads from a branch."""
    return f"{quote_table(table)}.{quote('branch_' + branch)}"


def close_versions(
    table: str, branch: str, keys: Sequence[str], changes: str, *, drop: bool = False
) -> str:
    """Close the current version of every key in the view `changes` at its `__at`.

    Only WHEN MATCHED: an insert clause would make it an outer join that shuffles the whole target.

    Args:
        table: The table.
        branch: The branch to write.
        keys: The natural key.
        changes: Name of a view with the keys and `__at`, and with `__drop` if `drop` is given.
        drop: Whether versions with `__drop` are taken out, because they are rewritten.
    """
    on = f"t.`_is_current` AND {same_key(keys, 't', 's')}"
    return _merge(table, branch, changes, on, *([_DROP] if drop else []), _CLOSE)


def change_versions(table: str, branch: str, keys: Sequence[str], changes: str) -> str:
    """Close or take out versions anywhere in the history, found by key and `_valid_from`."""
    on = f"{same_key(keys, 't', 's')} AND t.`_valid_from` = s.`__valid_from`"
    return _merge(table, branch, changes, on, _DROP, _CLOSE)


def renew_digests(table: str, branch: str, keys: Sequence[str], digests: str) -> str:
    """Give current versions the digests of the lines that they show, in the view `digests`."""
    on = f"t.`_is_current` AND {same_key(keys, 't', 's')} AND t.`_valid_from` = s.`__current_from`"
    now = ", ".join(f"t.{quote(name)} = s.{quote(name)}" for name in DIGEST)
    return _merge(table, branch, digests, on, f"WHEN MATCHED THEN UPDATE SET {now}")


def delete_keys(table: str, branch: str, keys: Sequence[str], view: str) -> str:
    """Return the deletion of all versions of the keys in a view, once each in it."""
    return _merge(table, branch, view, same_key(keys, "t", "s"), "WHEN MATCHED THEN DELETE")


def _merge(table: str, branch: str, view: str, on: str, *clauses: str) -> str:
    head = [f"MERGE INTO {branch_of(table, branch)} t", f"USING {quote(view)} s", f"ON {on}"]
    return "\n".join([*head, *clauses])


def delete_since(table: str, branch: str, time: datetime) -> str:
    """Return the deletion of the versions that held at or after a time (UTC, without zone)."""
    at = ntz_literal(time)
    return f"DELETE FROM {branch_of(table, branch)} WHERE _valid_to IS NULL OR _valid_to >= {at}"
