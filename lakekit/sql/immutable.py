"""What of a table never changes: its keys, which rows it holds of a key, and by which records."""

from collections.abc import Collection, Mapping

from lakekit.contract.contract import Contract
from lakekit.errors import SchemaMismatchError
from lakekit.sql.renames import left_names, renamings
from lakekit.sql.tables import DELETES, KEYS, MODE, PARTIAL, SEQUENCE, marks, partial


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
            time, without versions that say deleted, or with a companion of other records.
    """
    history, renamed = contract.history, _renamed(contract, known, properties)
    faults = []
    if before := properties.get(KEYS):
        faults += _other_columns("keys", before, ",".join(contract.keys), renamed)
    faults += _other_rows(contract, properties)
    before = properties.get(SEQUENCE)
    # What ended by one time may hold beside what begins by another.
    if before is not None and history.mode != "append":
        now = history.sequence_by or ""
        faults += _other_columns("sequence_by", before, now, renamed)
    if faults:
        raise SchemaMismatchError(f"{table}: {'; '.join(faults)}; make a table of another name")


def _renamed(
    contract: Contract, known: Collection[str], properties: Mapping[str, str]
) -> dict[str, str]:
    """Return the columns that a contract renames, in lower case; done already, or to be done.

    A crash may have come between the renaming, or another column of the old name, and the property
    that tells of it.
    """
    have, left = {name.lower() for name in known}, left_names(renamings(properties))
    told = {(c.renamed_from or "").lower(): c.name.lower() for c in contract.stored}
    return {
        old: new
        for old, new in told.items()
        if (old in have) != (new in have) or left.get(old) == new
    }


def _other_columns(what: str, before: str, now: str, renamed: Mapping[str, str]) -> list[str]:
    """Return whether a table was merged by other columns; one that is renamed stays the same."""
    was, becomes = ([name for name in names.split(",") if name] for names in (before, now))
    stay = {renamed.get(old, old) for old in map(str.lower, was)}
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
    told, says = properties.get(PARTIAL), partial(contract)
    # Of partial records the companion has each one, of whole ones those that no version shows.
    if told not in (None, says) and before == mode == "scd2" and contract.history.remembers:
        faults.append(f"ignore_null_updates: {told} cannot become {says}")
    return faults
