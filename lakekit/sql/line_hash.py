"""The digest of a landed line as SQL text: what tells that a record is known before it is parsed.

Nothing compares the records afterwards, nor even their keys, so it has 128 bits: two hashes of 64
bits with seeds of their own. The seeds depend on all that decides what a line becomes in the table,
so that a digest from before a change of the contract says nothing afterwards.
"""

import hashlib
import json

from lakekit.contract.contract import Contract
from lakekit.sql.identifiers import quote

DIGEST = ("_line_hash", "_line_check")
# How often the columns of a table have changed.
EVOLVED = "lakekit.evolved"
# The reading by which its current versions have their digests, and the extract that told them.
LINES = "lakekit.lines"
RENEWED = "lakekit.lines-renewed"
# To be raised when lines are parsed, or faults found in them, by other rules.
_RULES = 3
# What of a history's options says nothing of what a known line means.
_NOT_OF_A_LINE = {
    "apply_as_deletes", "delete_scope", "deletes", "max_deleted_ratio", "new_column", "null_keys",
    "tie_break",
}  # fmt: skip


def line_digest(contract: Contract, reading_name: str) -> list[str]:
    """Return the expressions of the two halves over `__raw`; null where a line does not tell.

    Partial records become what was known before them, too.

    Args:
        contract: What the line is read by.
        reading_name: See `reading`.
    """
    if contract.history.ignore_null_updates:
        return [f"CAST(NULL AS bigint) AS {quote(name)}" for name in DIGEST]
    return [f"xxhash64({_seed(reading_name, n)}L, __raw) AS {quote(n)}" for n in DIGEST]


def reading(contract: Contract, evolved: str = "") -> str:
    """Return a name for the way in which lines become rows.

    Args:
        contract: What a line is read by.
        evolved: How often the table's columns have changed; a contract may come back.
    """
    parts = [
        _RULES,
        [column.model_dump(exclude={"description", "renamed_from"}) for column in contract.columns],
        contract.history.model_dump(mode="json", exclude=_NOT_OF_A_LINE),
        evolved,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _seed(reading_name: str, half: str) -> int:
    text = f"{half} {reading_name}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 1
