"""The digest of a landed line as SQL text: by it an unchanged record is found before it is parsed.

Nothing compares the records afterwards, nor even their keys. So a digest has 128 bits: two hashes
of 64 bits, each with its own seed. The seeds depend on everything that decides what a line becomes
in the table, so that no digest from before a change of the contract equals one from after it.
"""

import hashlib
import json
from typing import Any

from lakekit.contract.contract import Column, Contract
from lakekit.sql.identifiers import quote

DIGEST = ("_line_hash", "_line_check")
# To be raised when lines are parsed, or faults found in them, by other rules.
_RULES = 4
# The options of a history that do not change what a line becomes.
_NOT_OF_A_LINE = {
    "apply_as_deletes", "delete_scope", "deletes", "max_deleted_ratio", "new_column", "null_keys",
    "tie_break",
}  # fmt: skip


def line_digest(fingerprint: str) -> list[str]:
    """Return the expressions of the two halves over `__raw`; see `parse_fingerprint`."""
    return [f"xxhash64({_seed(fingerprint, n)}L, __raw) AS {quote(n)}" for n in DIGEST]


def parse_fingerprint(contract: Contract, schema_changes: int = 0) -> str:
    """Return a digest of everything that decides how a line becomes a row.

    Args:
        contract: What a line is parsed by.
        schema_changes: How often the table's columns have changed; a contract may come back.
    """
    parts = [
        _RULES,
        [_of_a_line(column) for column in contract.columns],
        contract.history.model_dump(mode="json", exclude=_NOT_OF_A_LINE),
        schema_changes,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _of_a_line(column: Column) -> dict[str, Any]:
    own = column.model_dump(exclude={"description", "renamed_from"}, by_alias=True)
    # A column that says nothing of its field is digested as it always was.
    return own if own["from"] else {name: own[name] for name in own if name != "from"}


def _seed(fingerprint: str, half: str) -> int:
    text = f"{half} {fingerprint}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 1
