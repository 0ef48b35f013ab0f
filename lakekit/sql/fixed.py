"""What of a table never changes: its keys, which rows it holds of a key, and by which time."""

from collections.abc import Mapping, Sequence

from lakekit.contracts import Contract
from lakekit.errors import SchemaMismatchError
from lakekit.sql.tables import DELETES, KEYS, MODE, SEQUENCE, marks


def refuse_what_is_fixed(
    contract: Contract, table: str, known: set[str], properties: Mapping[str, str]
) -> None:
    """Check that a contract wants rows of the kind that a table holds.

    Args:
        contract: What the table should be.
        table: Its identifier.
        known: The names of the columns that it has, in lower case.
        properties: Its properties; what they do not tell is not judged.

    Raises:
        SchemaMismatchError: It was merged by other keys, in a mode with other rows, by another
            time, or without versions that say deleted.
    """
    faults = [
        *_other_keys(contract, known, properties),
        *_other_rows(contract, properties),
        *_other_time(contract, known, properties),
    ]
    if faults:
        raise SchemaMismatchError(f"{table}: {'; '.join(faults)}; make a table of another name")


def _other_keys(contract: Contract, known: set[str], properties: Mapping[str, str]) -> list[str]:
    """Return whether a table was merged by other keys; one whose column is renamed stays one."""
    before = [name for name in properties.get(KEYS, "").split(",") if name]
    if not before or _stay(before, contract.keys, contract, known):
        return []
    return [f"its keys {', '.join(before)} cannot become {', '.join(contract.keys) or 'none'}"]


def _stay(before: Sequence[str], now: Sequence[str], contract: Contract, known: set[str]) -> bool:
    """Whether columns are the same as before, by their names of today."""
    renamed = {(c.renamed_from or "").lower(): c.name.lower() for c in contract.stored}
    stay = set()
    for old in map(str.lower, before):
        name = renamed.get(old, old)
        # A crash may have come between the renaming and the property that tells of it.
        stay.add(name if (old in known) != (name in known) else old)
    return stay == {name.lower() for name in now}


def _other_rows(contract: Contract, properties: Mapping[str, str]) -> list[str]:
    faults, mode = [], contract.history.mode
    before = properties.get(MODE, mode)
    # What has only its latest records may begin to keep versions.
    if before != mode and (before, mode) != ("scd1", "scd2"):
        faults.append(f"its mode {before} cannot become {mode}")
    elif marks(contract) and properties.get(DELETES, "mark") != "mark":
        faults.append(f"deletes: {properties[DELETES]} cannot become mark")
    return faults


def _other_time(contract: Contract, known: set[str], properties: Mapping[str, str]) -> list[str]:
    """Return whether versions began by another time; what ended by one may overlap by another."""
    now, before = contract.history.sequence_by or "", properties.get(SEQUENCE)
    if before is None or contract.history.mode == "append":
        return []
    names = [[name] if name else [] for name in (before, now)]
    if _stay(names[0], names[1], contract, known):
        return []
    told = [name or "none" for name in (before, now)]
    return [f"its sequence_by {told[0]} cannot become {told[1]}"]
