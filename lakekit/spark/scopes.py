"""The scopes within which absence from a full extract counts, each as a JSON object."""

from collections.abc import Sequence

from lakekit.contracts import Contract
from lakekit.errors import SchemaMismatchError
from lakekit.sql.identifiers import quote
from lakekit.sql.renamed import Renamings, names_over_time
from lakekit.sql.scope_texts import members, scope_of


def scope_text(scope: Sequence[str]) -> str:
    """Return the expression of a row's scope as JSON text, nulls included."""
    if not scope:
        return "CAST(NULL AS string)"
    return f"to_json(struct({', '.join(map(quote, scope))}), map('ignoreNullFields', 'false'))"


def known_scopes(
    texts: Sequence[str] | None, contract: Contract, renamed: Sequence[Renamings]
) -> tuple[str, ...] | None:
    """Return the scopes of an extract that is merged, by the names of today; None is everywhere.

    Args:
        texts: The scopes by the names of their time; None is everywhere.
        contract: Its columns and their names of today.
        renamed: The columns of the table that were renamed; see `renamings`.

    Raises:
        SchemaMismatchError: They are of other columns than those of `delete_scope`.
    """
    if texts is None or not (texts or contract.history.delete_scope):
        return None
    return tuple(_by_names_of_today(text, contract, renamed) for text in texts)


def _by_names_of_today(text: str, contract: Contract, renamed: Sequence[Renamings]) -> str:
    told, scope = dict(members(text)), contract.history.delete_scope
    values = {name.lower(): value for name, value in told.items()}
    # A table that was renamed before it noted that tells nothing.
    said = {c.renamed_from.lower(): c.name.lower() for c in contract.columns if c.renamed_from}
    for names in names_over_time(scope, [said, *renamed]):
        if values.keys() == {*names}:
            return scope_of(zip(scope, map(values.__getitem__, names), strict=True))
    raise SchemaMismatchError(
        f"{contract.contract}: delete_scope is {list(scope)}, but was {list(told)} when full "
        "extracts were merged, and what they lacked cannot be judged by other columns: keep it "
        "as it was, or begin a table under another name"
    )
