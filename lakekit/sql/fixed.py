"""What of a table never changes: its keys, which rows it holds of a key, and by which time."""

from collections.abc import Collection, Mapping

from lakekit.contracts import Contract
from lakekit.errors import SchemaMismatchError
from lakekit.sql.tables import DELETES, KEYS, MODE, SEQUENCE, marks


def refuse_what_is_fixed(
    contract: Contract, table: str, known: Collection[str], properties: Mapping[str, str]
) -> None:
    """Check that a contract wants rows of the kind that a table holds.

    Args:
        contract: What the table should be.
        table: Its identifier.
        known: The names of the columns that it has.
        properties: Its properties; what they do not tell is not judged.

    Raises:
        SchemaMismatchError: It was merged by other keys, in a mode with other rows, by another
            time, or without versions that say deleted.
    """
    have, history = {name.lower() for name in known}, contract.history
    faults = []
    if before := properties.get(KEYS):
        faults += _other_columns("keys", before, ",".join(contract.keys), contract, have)
    faults += _other_rows(contract, properties)
    before = properties.get(SEQUENCE)
    # What ended by one time may hold beside what begins by another.
    if before is not None and history.mode != "append":
        now = history.sequence_by or ""
        faults += _other_columns("sequence_by", before, now, contract, have)
    if faults:
        raise SchemaMismatchError(f"{table}: {'; '.join(faults)}; make a table of another name")


def _other_columns(
    what: str, before: str, now: str, contract: Contract, have: set[str]
) -> list[str]:
    """Return whether a table was merged by other columns; one that is renamed stays the same."""
    renamed = {(c.renamed_from or "").lower(): c.name.lower() for c in contract.stored}
    was, becomes = ([name for name in names.split(",") if name] for names in (before, now))
    stay = set()
    for old in map(str.lower, was):
        name = renamed.get(old, old)
        # A crash may have come between the renaming and the property that tells of it.
        stay.add(name if (old in have) != (name in have) else old)
    if stay == {name.lower() for name in becomes}:
        return []
    told = [", ".join(names) or "none" for names in (was, becomes)]
    return [f"its {what} {told[0]} cannot become {told[1]}"]


def _other_rows(contract: Contract, properties: Mapping[str, str]) -> list[str]:
    faults, mode = [], contract.history.mode
    before = properties.get(MODE, mode)
    # What has only its latest records may begin to keep versions.
    if before != mode and (before, mode) != ("scd1", "scd2"):
        faults.append(f"its mode {before} cannot become {mode}")
        return faults
    deletes, now = properties.get(DELETES), contract.history.deletes
    # Only versions that say deleted tell what is gone, or none does.
    if deletes and mode == "scd2" and (deletes == "mark") != marks(contract):
        faults.append(f"deletes: {deletes} cannot become {now}")
    return faults
