"""What of a table never changes: its keys, and which rows it holds of a key."""

from collections.abc import Mapping

from lakekit.contracts import Contract
from lakekit.errors import SchemaMismatchError
from lakekit.sql.tables import DELETES, KEYS, MODE, marks


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
        SchemaMismatchError: It was merged by other keys, in a mode with other rows, or without
            versions that say deleted.
    """
    faults = [*_other_keys(contract, known, properties), *_other_rows(contract, properties)]
    if faults:
        raise SchemaMismatchError(f"{table}: {'; '.join(faults)}; make a table of another name")


def _other_keys(contract: Contract, known: set[str], properties: Mapping[str, str]) -> list[str]:
    """Return whether a table was merged by other keys; one whose column is renamed stays one."""
    renamed = {(c.renamed_from or "").lower(): c.name.lower() for c in contract.stored}
    before = [name for name in properties.get(KEYS, "").split(",") if name]
    stay = set()
    for key in map(str.lower, before):
        name = renamed.get(key, key)
        # A crash may have come between the renaming and the property that tells of it.
        stay.add(name if (key in known) != (name in known) else key)
    if not before or stay == {name.lower() for name in contract.keys}:
        return []
    return [f"its keys {', '.join(before)} cannot become {', '.join(contract.keys) or 'none'}"]


def _other_rows(contract: Contract, properties: Mapping[str, str]) -> list[str]:
    faults, mode = [], contract.history.mode
    before = properties.get(MODE, mode)
    if (before == "append") != (mode == "append"):
        faults.append(f"its mode {before} cannot become {mode}")
    elif marks(contract) and properties.get(DELETES, "mark") != "mark":
        faults.append(f"deletes: {properties[DELETES]} cannot become mark")
    return faults
