"""The digest of a landed line as SQL text: what tells that a record is known before it is parsed.

Nothing compares the records afterwards, nor even their keys, so it has 128 bits: two hashes of 64
bits with seeds of their own. The seeds depend on all that decides what a line becomes in the table,
so that a digest from before a change of the contract says nothing afterwards.
"""

import hashlib
import json

from lakekit.contracts import Contract
from lakekit.sql.identifiers import quote

DIGEST = ("_line_hash", "_line_check")
# How often the columns of a table have changed.
EVOLVED = "lakekit.evolved"
# The reading by which its current versions have their digests.
LINES = "lakekit.lines"


def line_digest(contract: Contract, known_by: str) -> list[str]:
    """Return the expressions of the two halves over `__raw`; null where a line does not tell.

    Partial records become what was known before them, too.

    Args:
        contract: What the line is read by.
        known_by: The reading; see there.
    """
    if contract.history.ignore_null_updates:
        return [f"CAST(NULL AS bigint) AS {quote(name)}" for name in DIGEST]
    return [f"xxhash64({_seed(known_by, name)}L, __raw) AS {quote(name)}" for name in DIGEST]


def reading(contract: Contract, evolved: str = "") -> str:
    """Return a name for the way in which lines become rows.

    Args:
        contract: What a line is read by.
        evolved: How often the table's columns have changed; a contract may come back.
    """
    history = contract.history
    told = {"keys", "mode", "sequence_by", "untracked", "except_columns"}
    parts = [
        [column.model_dump(exclude={"description"}) for column in contract.columns],
        [column.name for column in contract.tracked],
        history.model_dump(mode="json", include=told),
        evolved,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _seed(reading: str, half: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{half} {reading}".encode()).digest()[:8], "big") >> 1
