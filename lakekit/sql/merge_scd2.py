"""The statement that closes versions."""

from collections.abc import Sequence

from lakekit.sql.identifiers import quote, quote_table, same_key


def branch_of(table: str, branch: str) -> str:
    """Return the quoted identifier that writes to and reads from a branch."""
    return f"{quote_table(table)}.{quote('branch_' + branch)}"


def close_versions(table: str, branch: str, keys: Sequence[str], changes: str) -> str:
    """Close the current version of every key in the view `changes` at its `_at`.

    Only WHEN MATCHED: an insert clause would make it an outer join that shuffles the whole target.
    """
    return (
        f"MERGE INTO {branch_of(table, branch)} t\n"
        f"USING {quote(changes)} s\n"
        f"ON t.`_is_current` AND {same_key(keys, 't', 's')}\n"
        "WHEN MATCHED THEN UPDATE SET t.`_is_current` = false, t.`_valid_to` = s.`_at`"
    )


def create_branch(table: str, branch: str) -> str:
    """Return the DDL of a branch at main's head."""
    return f"ALTER TABLE {quote_table(table)} CREATE OR REPLACE BRANCH {quote(branch)}"


def drop_branch(table: str, branch: str) -> str:
    """Return the DDL that drops a branch if it is there."""
    return f"ALTER TABLE {quote_table(table)} DROP BRANCH IF EXISTS {quote(branch)}"
