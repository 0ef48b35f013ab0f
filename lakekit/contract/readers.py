"""Which columns of a table its readers may see."""

from collections.abc import Iterable

from lakekit.contract.contract import CONTROL_COLUMNS, Contract

# The values of the LF-tag: what says nothing else is sensitive.
OPEN, SENSITIVE = "open", "sensitive"
# A digest of a row gives away whether a guess at its sensitive values is right.
_OPEN_CONTROLS = {*CONTROL_COLUMNS, "_is_deleted"} - {"_row_hash"}


def open_columns(contract: Contract, present: Iterable[str]) -> list[str]:
    """Return which columns of a table everybody may see who may read it.

    Not those that the contract calls sensitive, or does not have any more, and no digests.

    Example:
        >>> from lakekit.contract.contract import load_contract
        >>> people = load_contract('''
        ... contract: people
        ... source: crm
        ... endpoint: {path: /people}
        ... schema: [{name: id, type: int}, {name: email, type: string, sensitive: true}]
        ... history: {keys: [id]}
        ... ''')
        >>> open_columns(people, ["id", "email", "phone", "_valid_from", "_row_hash"])
        ['id', '_valid_from']
    """
    known = {each.name.lower() for each in contract.stored if not each.sensitive}
    return [name for name in present if name.lower() in known | _OPEN_CONTROLS]
