"""Columns that a table got after its first version, as its properties tell of them. Pure."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lakekit.sql.scopes import are_among, with_new_names

# Those of them that full extracts have not told yet of all keys.
LATER_COLUMNS = "lakekit.later-columns"
# Of each, as JSON, the newest extraction time that the table knew before: what is told later has
# the column. Older tables have one time for all that are named above.
LATER_UNTIL = "lakekit.later-columns-until"
# Of each, as JSON, the newest extraction time that the table knew when they had told it.
LATER_FILLED = "lakekit.later-columns-filled"
# Of each, as JSON, the scopes of which full extracts have told it, until that are all.
LATER_SCOPES = "lakekit.later-columns-scopes"
# All that a table knows of them.
NOTES = (LATER_COLUMNS, LATER_UNTIL, LATER_FILLED, LATER_SCOPES)


@dataclass(frozen=True)
class Later:
    """A column that a table got after its first version.

    until: the newest extraction time that the table knew before; None if it is not known.
    filled: that which it knew when full extracts had told it; what is said first later changes.
    """

    name: str
    until: datetime | None = None
    filled: datetime | None = None

    def is_filled_by(self, extracted: datetime) -> bool:
        """Whether first values of a run are those of the versions from before the column."""
        return self.filled is None or extracted <= self.filled

    def is_unknown_to(self, extracted: datetime) -> bool:
        """Whether a run was extracted before the column came."""
        return self.until is not None and extracted <= self.until


def later_columns(properties: Mapping[str, str]) -> tuple[Later, ...]:
    """Return the later columns of a table; the oldest come first, before them those of no time."""
    named = _named(properties)
    until, filled = _times(_until(properties)), _times(_noted(properties, LATER_FILLED))
    names = sorted({**until, **dict.fromkeys(named)}, key=lambda n: until.get(n, datetime.min))
    return tuple(Later(name, until.get(name), filled.get(name)) for name in names)


def with_added(
    properties: Mapping[str, str],
    added: Sequence[str],
    renames: Mapping[str, str],
    newest: str = "",
) -> dict[str, str]:
    """Return what the properties say of later columns once some are renamed and some added.

    Args:
        properties: Those of the table.
        added: The columns that are added.
        renames: The columns that are renamed, and what each becomes.
        newest: The newest extraction time that the table knows, UTC; empty if it is not known.
    """
    named = [*(renames.get(name, name) for name in _named(properties)), *added]
    told = {LATER_COLUMNS: ",".join(dict.fromkeys(named))} if named else {}
    if not (added or renames):
        return told
    noted = {key: _noted(properties, key) for key in (LATER_FILLED, LATER_SCOPES)}
    # A scope is of columns too.
    noted[LATER_SCOPES] = {
        name: [with_new_names(text, renames) for text in scopes]
        for name, scopes in noted[LATER_SCOPES].items()
    }
    for key, known in ({LATER_UNTIL: _until(properties)} | noted).items():
        kept = {renames.get(name, name): value for name, value in known.items()}
        kept = {name: value for name, value in kept.items() if name not in added}
        if key == LATER_UNTIL and newest:
            kept |= dict.fromkeys(added, str(datetime.fromisoformat(newest)))
        # What it said of columns that are added anew is forgotten.
        told |= _text(key, kept) or _forgotten(properties, key)
    return told


def untold(properties: Mapping[str, str], extracted: datetime) -> tuple[Later, ...]:
    """Return the later columns that full extracts have not told before one.

    Columns that are younger than the extract wait for the next one.
    """
    return tuple(
        each
        for each in later_columns(properties)
        if each.filled is None and not each.is_unknown_to(extracted)
    )


def told_by_full(
    properties: Mapping[str, str],
    extracted: datetime,
    newest: str,
    *,
    scopes: Collection[str] = (),
    held: Collection[str] = (),
) -> dict[str, str]:
    """Return what a full extract changes in what a table knows of its later columns.

    It has told them, if absence counts everywhere, or once others have told of all other scopes.

    Args:
        properties: Those of the table.
        extracted: Extraction time of the full extract, UTC.
        newest: The newest extraction time that the table knows, UTC. What has filled in values
            before an older extract came stays.
        scopes: The scopes of the extract, if absence counts in those only.
        held: The scopes of the keys that the table has then.
    """
    new = untold(properties, extracted)
    if not new:
        return {}
    within = _noted(properties, LATER_SCOPES)
    within |= {each.name: sorted({*within.get(each.name, ()), *scopes}) for each in new}
    done = {each.name for each in new if are_among(held, within[each.name])}
    now = max(extracted, datetime.fromisoformat(newest))
    filled = _noted(properties, LATER_FILLED)
    filled |= {each.name: str(now) for each in new if each.until and each.name in done}
    within = {name: told for name, told in within.items() if name not in done}
    told = {LATER_COLUMNS: ",".join(n for n in _named(properties) if n not in done)}
    told |= _text(LATER_UNTIL, _until(properties)) | _text(LATER_FILLED, filled)
    told |= _text(LATER_SCOPES, within) or _forgotten(properties, LATER_SCOPES)
    return {key: text for key, text in told.items() if properties.get(key) != text}


def _named(properties: Mapping[str, str]) -> list[str]:
    return [name for name in properties.get(LATER_COLUMNS, "").split(",") if name]


def _until(properties: Mapping[str, str]) -> dict[str, str]:
    text = properties.get(LATER_UNTIL)
    if text and not text.startswith("{"):
        return dict.fromkeys(_named(properties), text)
    return _noted(properties, LATER_UNTIL)


def _noted(properties: Mapping[str, str], key: str) -> dict[str, Any]:
    """Return what a property says of each column."""
    return dict(json.loads(properties.get(key) or "{}"))


def _times(noted: Mapping[str, str]) -> dict[str, datetime]:
    return {name: datetime.fromisoformat(time) for name, time in noted.items()}


def _text(key: str, noted: Mapping[str, Any]) -> dict[str, str]:
    return {key: json.dumps(noted)} if noted else {}


def _forgotten(properties: Mapping[str, str], key: str) -> dict[str, str]:
    """Return a property without a column, if it is there."""
    return {key: "{}"} if properties.get(key) else {}
