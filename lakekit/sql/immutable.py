"""What of a table never changes: its keys, which rows it holds of a key, and by which records."""

from collections.abc import Collection, Mapping, Sequence

from lakekit.contract.contract import Contract
from lakekit.errors import SchemaMismatchError
from lakekit.sql.renames import left_names, renamings
from lakekit.sql.tables import marks
from lakekit.table_properties import CONTRACT, ContractProperty


def refuse_changed_identity(
    contract: Contract, table: str, known: Collection[str], properties: Mapping[str, str]
) -> None:
    """Check that a contract wants rows of the kind that a table holds.

    Args:
        contract: What the table should be.
        table: Its identifier.
        known: The names of the columns that it has.
        properties: Its properties; a table without `lakekit.contract` is not checked.

    Raises:
        SchemaMismatchError: It was merged by other keys, in a mode with other rows, by another
            time, without versions that say deleted, or with a journal of other records.
    """
    before, history = CONTRACT.read(properties), contract.history
    if before is None:
        return
    faults, renamed = [], _renamed(contract, known, properties)
    if before.keys:
        faults += _other_columns("keys", before.keys, contract.keys, renamed)
    faults += _other_rows(contract, before)
    # A version that ended by one time may overlap one that begins by another.
    if history.mode != "append":
        was, becomes = (
            [name] if name else [] for name in (before.sequence_by, history.sequence_by)
        )
        faults += _other_columns("sequence_by", was, becomes, renamed)
    if faults:
        raise SchemaMismatchError(f"{table}: {'; '.join(faults)}; make a table of another name")


def _renamed(
    contract: Contract, known: Collection[str], properties: Mapping[str, str]
) -> dict[str, str]:
    """Return the columns that a contract renames, in lower case; done already, or to be done.

    A crash may have come between the renaming, or another column of the old name, and the property
    that records it.
    """
    have, left = {name.lower() for name in known}, left_names(renamings(properties))
    wanted = {(c.renamed_from or "").lower(): c.name.lower() for c in contract.stored}
    return {
        old: new
        for old, new in wanted.items()
        if (old in have) != (new in have) or left.get(old) == new
    }


def _other_columns(
    what: str, before: Sequence[str], now: Sequence[str], renamed: Mapping[str, str]
) -> list[str]:
    """Return the fault if a table was merged by other columns; a renamed one is the same column."""
    stay = {renamed.get(old, old) for old in map(str.lower, before)}
    if stay == {name.lower() for name in now}:
        return []
    was, becomes = (", ".join(names) or "none" for names in (before, now))
    return [f"its {what} {was} cannot become {becomes}"]


def _other_rows(contract: Contract, before: ContractProperty) -> list[str]:
    history = contract.history
    # A table that has only the latest rows may begin to keep versions.
    if before.mode != history.mode and (before.mode, history.mode) != ("scd1", "scd2"):
        return [f"its mode {before.mode} cannot become {history.mode}"]
    faults = []
    # Either every deletion has a version that says so, or none has.
    if history.mode == "scd2" and (before.deletes == "mark") != marks(contract):
        faults.append(f"deletes: {before.deletes} cannot become {history.deletes}")
    # The journal has every partial record, but only those whole records that no version shows.
    was, becomes = before.ignore_null_updates, history.ignore_null_updates
    if was != becomes and history.mode == "scd2" and history.keeps_journal:
        words = [str(each).lower() for each in (was, becomes)]
        faults.append(f"ignore_null_updates: {words[0]} cannot become {words[1]}")
    return faults
