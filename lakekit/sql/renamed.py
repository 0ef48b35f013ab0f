"""The names that a table's columns had: one that is free may be given to another column."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence

from lakekit.contracts import Contract
from lakekit.errors import SchemaMismatchError

# Each step of renamings, oldest first, as JSON: of full extracts the companion keeps the names of
# their time.
EARLIER_NAMES = "lakekit.earlier-names"
Renamings = Mapping[str, str]


def renamings(properties: Mapping[str, str]) -> list[Renamings]:
    """Return which columns of a table were renamed, step by step, in lower case."""
    told = json.loads(properties.get(EARLIER_NAMES, "[]"))
    # An older table noted what each name had become last, in the order of their first renamings.
    if isinstance(told, dict):
        told = [{old: new} for old, new in told.items()] * len(told)
    return [_lower(step) for step in told]


def is_noted(steps: Sequence[Renamings], renames: Renamings) -> bool:
    """Whether a step that is to be done was begun before, and cut short by a crash."""
    return _lower(renames).items() <= {**(steps[-1] if steps else {})}.items()


def noted_names(
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
    return {EARLIER_NAMES: json.dumps(steps)}


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
    """Return a contract whose columns are renamed from what a table calls them.

    That is a name of before, where the table has not taken part in each step.

    Args:
        contract: Its columns are to be those of the table.
        known: The names of the columns that the table has.
        steps: How columns were renamed, oldest first, also after the contract's time.
    """
    have = {name.lower(): name for name in known}
    there = have.keys() & {column.name.lower() for column in contract.stored}
    froms: dict[str, str] = {}
    for column in contract.stored:
        if column.name.lower() in have:
            continue
        had = (name for (name,) in names_over_time([column.renamed_from or column.name], steps))
        # Of two columns that had a name one after the other, it is the first one's.
        before = next((name for name in had if name in have.keys() - there), None)
        if before is not None and before not in froms.values():
            froms[column.name] = have[before]
    columns = [
        c.model_copy(update={"renamed_from": froms.get(c.name, c.renamed_from)})
        for c in contract.columns
    ]
    return contract.model_copy(update={"columns": tuple(columns)})


def _refuse_exchanged_names(contract: Contract, table: str, steps: Sequence[Renamings]) -> None:
    scope = contract.history.delete_scope
    # What was exchanged before this was refused is no fault of the new step.
    if contract.history.remembers and _exchange(scope, steps) and not _exchange(scope, steps[:-1]):
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
