"""The names that a table's columns had: one that is free may be given to another column."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from lakekit.contract.contract import Contract
from lakekit.errors import SchemaMismatchError
from lakekit.table_properties import RENAMES

# One step: the old and the new name of each column that was renamed.
Renamings = Mapping[str, str]


def renamings(properties: Mapping[str, str]) -> list[Renamings]:
    """Return which columns of a table were renamed, step by step, in lower case."""
    return [*(RENAMES.read(properties) or [])]


def is_noted(steps: Sequence[Renamings], renames: Renamings) -> bool:
    """Whether a step that is to be done was begun before, and cut short by a crash."""
    return _lower(renames).items() <= {**(steps[-1] if steps else {})}.items()


def recorded_renames(
    contract: Contract, table: str, renames: Renamings, properties: Mapping[str, str]
) -> dict[str, str]:
    """Return the property by which a table knows of its renamings; none if there are no new ones.

    Raises:
        SchemaMismatchError: Columns of `delete_scope` would have each other's names.
    """
    steps = renamings(properties)
    if is_noted(steps, renames):
        return {}
    steps = [*steps, _lower(renames)]
    _refuse_exchanged_names(contract, table, steps)
    return RENAMES.write([{**step} for step in steps])


def left_names(steps: Sequence[Renamings]) -> dict[str, str]:
    """Return the names that columns left, and what these became then; no column was renamed to one.

    Example:
        >>> left_names([{"a": "b"}, {"c": "a", "b": "d"}])
        {'c': 'a', 'b': 'd'}
    """
    left: dict[str, str] = {}
    for step in steps:
        left = {old: new for old, new in left.items() if old not in step.values()} | {**step}
    return left


def names_over_time(
    columns: Sequence[str], steps: Sequence[Renamings]
) -> Iterator[tuple[str, ...]]:
    """Yield the names that columns had, in lower case, those of today first.

    Example:
        >>> list(names_over_time(["town"], [{"city": "place"}, {"place": "town"}]))
        [('town',), ('place',), ('city',)]
    """
    names = tuple(name.lower() for name in columns)
    yield names
    for step in reversed(steps):
        before = {new: old for old, new in step.items()}
        names = tuple(before.get(name, name) for name in names)
        yield names


def with_known_names(
    contract: Contract, known: Collection[str], steps: Sequence[Renamings]
) -> Contract:
    """Return a contract that names what columns were called in a table which missed some steps.

    Only for columns that would be new there, and whose name no column has left: one that had it
    before may have been another.

    Args:
        contract: Its columns are to be those of the table.
        known: The names of the columns that the table has.
        steps: How columns were renamed, oldest first, also after the contract's time.

    Example:
        A table with `city`, and a contract with `place`, renamed from `town`: by the steps
        `{"city": "town"}` and `{"town": "place"}` that is renamed from `city`.
    """
    renames, stored = contract.renames(known), [column.name for column in contract.stored]
    taken = {name.lower() for name in (*renames, *stored)}
    free = {name.lower(): name for name in known if name.lower() not in taken}
    left = [name for step in steps for name in step]
    old = {name.lower() for name in (*known, *renames.values(), *left)}
    found = dict[str, dict[str, str]]()
    for name in [name for name in stored if name.lower() not in old]:
        had = (before for (before,) in names_over_time([name], steps) if before in free)
        if before := next(had, None):
            found[name] = {"renamed_from": free.pop(before)}
    columns = (column.model_copy(update=found.get(column.name)) for column in contract.columns)
    return contract.model_copy(update={"columns": tuple(columns)})


def missed_renamings(
    contract: Contract,
    steps: Sequence[Renamings],
    known: Collection[str],
    known_steps: Sequence[Renamings],
) -> dict[str, str]:
    """Return the columns whose first name stays with another column in a table of the same rows.

    There they began as new ones: what they held before they were renamed is not theirs.

    Args:
        contract: What both tables are brought to.
        steps: How columns were renamed, oldest first.
        known: The names of the columns that the other table has.
        known_steps: How that one's were renamed.

    Returns:
        By the name of each such column its first one; in lower case.

    Example:
        By the steps `{"city": "town"}` and `{"town": "place"}`, `place` began as `city`. A table
        that has `city` still, and `place` by the second step alone, has missed the first.
    """
    names = [column.name.lower() for column in contract.stored]
    free = {name.lower() for name in known} - {*names}
    free |= {name for step in known_steps for name in step}
    *_, firsts = names_over_time(names, steps)
    *_, there = names_over_time(names, known_steps)
    return {
        name: first
        for name, first, other in zip(names, firsts, there, strict=True)
        if first not in (other, name) and first in free
    }


def _refuse_exchanged_names(contract: Contract, table: str, steps: Sequence[Renamings]) -> None:
    scope = contract.history.delete_scope
    # What was exchanged before this was refused is no fault of the new step.
    if (
        contract.history.keeps_journal
        and _exchange(scope, steps)
        and not _exchange(scope, steps[:-1])
    ):
        raise SchemaMismatchError(
            f"{table}: {', '.join(scope)} of delete_scope cannot exchange their names, as what "
            "full extracts lacked is known by them; give one a name that none of them had"
        )


def _exchange(scope: Sequence[str], steps: Sequence[Renamings]) -> bool:
    """Whether columns had the names of each other at one time or another."""
    known = dict[frozenset[str], tuple[str, ...]]()
    over_time = names_over_time(scope, steps)
    return any(known.setdefault(frozenset(names), names) != names for names in over_time)


def _lower(step: Renamings) -> dict[str, str]:
    return {old.lower(): new.lower() for old, new in step.items()}
