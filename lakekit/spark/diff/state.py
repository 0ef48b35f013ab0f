"""What a merge knows of its table before it looks at a row."""

from collections.abc import Mapping
from dataclasses import dataclass

from lakekit.sql.added_columns import Later


@dataclass(frozen=True)
class Sight:
    """What a merge knows of the table before it looks at a row.

    newest_full: moment of the last full extract that is merged, with a sequence; else None.
    newest_by_scope: the last of each scope, where that decides what is late; else None. The scope
        None is each one that is not named.
    scopes_are_said: whether each record says its scope; a partial one need not.
    behind: the run is a full extract older than the end of a version that is not current.
    later: tracked columns that the table got after its first version, and that the run may fill.
    unaware: those of which a null of the run says nothing, as it was extracted before they came.
    """

    newest_full: str | None = None
    newest_by_scope: Mapping[str | None, str] | None = None
    scopes_are_said: bool = True
    behind: bool = False
    later: tuple[Later, ...] = ()
    unaware: tuple[Later, ...] = ()
