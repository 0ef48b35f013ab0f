"""Contracts whose endpoints are asked once for each record of another one."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from lakekit.contract.contract import Contract
from lakekit.errors import InvalidContractError
from lakekit.models import Fault


def family_faults(contracts: Iterable[Contract], unread: Iterable[str] = ()) -> dict[str, Fault]:
    """Return what is wrong with the parents of contracts, by the name of the child.

    Args:
        contracts: All there are.
        unread: Names of others that there are, and that do not load.
    """
    known = {contract.contract: contract for contract in contracts}
    others = {*unread}
    return {
        name: Fault(("endpoint", "parent", "table"), message)
        for name, contract in known.items()
        if (message := _fault(contract, known, others))
    }


def parents_first(contracts: Sequence[Contract]) -> tuple[Contract, ...]:
    """Return contracts with each child behind its parent, else in their order.

    Raises:
        InvalidContractError: A parent is missing, or among its own children.
    """
    if faults := family_faults(contracts):
        raise InvalidContractError("\n".join(f"{name}: {fault}" for name, fault in faults.items()))
    known = {contract.contract: contract for contract in contracts}
    return tuple(sorted(contracts, key=lambda each: len([*_parents(each, known)])))


def with_children(names: Collection[str], contracts: Sequence[Contract]) -> tuple[str, ...]:
    """Return names with those of their children, and of theirs, in the order of the contracts."""
    known = {contract.contract: contract for contract in contracts}
    return tuple(
        name
        for name, contract in known.items()
        if name in names or any(p.contract in names for p in _parents(contract, known))
    )


def _parents(contract: Contract, known: Mapping[str, Contract]) -> Iterator[Contract]:
    """Yield the parent of a contract, its parent, and so on; each once."""
    seen: set[str] = set()
    while parent := known.get(_parent_of(contract) or ""):
        if parent.contract in seen:
            return
        seen.add(parent.contract)
        yield (contract := parent)


def _parent_of(contract: Contract) -> str | None:
    parent = contract.endpoint.parent
    return parent.table if parent else None


def _fault(contract: Contract, known: Mapping[str, Contract], unread: Iterable[str]) -> str | None:
    name = _parent_of(contract)
    if name is None or name in unread:
        return None
    parent = known.get(name)
    if parent is None or parent.source != contract.source:
        return f"there is no contract '{name}' of the source '{contract.source}'"
    if parent.endpoint.path is None:
        return f"'{name}' has files alone, and is not asked for in a run"
    if contract in _parents(contract, known):
        return f"'{contract.contract}' is among its own parents"
    is_part = parent.endpoint.extract != "full" and not contract.history.delete_scope
    if contract.endpoint.extract == "full" and is_part:
        return (
            f"'{name}' is not extracted in full, so its children are not all there are; give "
            "history a delete_scope, or set endpoint.extract: incremental"
        )
    return None
