"""Columns that a table got after its first version, as its properties tell of them. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

# Those of them that no full extract has told yet.
LATER_COLUMNS = "lakekit.later-columns"
# Of each, as JSON, the newest extraction time that the table knew before: what is told later has
# the column. Older tables have one time for all that are named above.
LATER_UNTIL = "lakekit.later-columns-until"
# Of each, as JSON, the newest extraction time that the table knew when a full extract had told it.
LATER_FILLED = "lakekit.later-columns-filled"


@dataclass(frozen=True)
class Later:
    """A column that a table got after its first version.

    until: the newest extraction time that the table knew before; None if it is not known.
    filled: that which it knew when a full extract had told it; what is said first later changes.
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
    named, until = _named(properties), _until(properties)
    filled = _times(properties.get(LATER_FILLED))
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
    until, filled = _until(properties), _times(properties.get(LATER_FILLED))
    now = dict.fromkeys(added, datetime.fromisoformat(newest)) if newest else {}
    for key, times in ((LATER_UNTIL, until), (LATER_FILLED, filled)):
        kept = {renames.get(name, name): time for name, time in times.items()}
        kept = {name: time for name, time in kept.items() if name not in added}
        kept |= now if key == LATER_UNTIL else {}
        # What it said of columns that are added anew is forgotten.
        told |= _text(key, kept) or ({key: "{}"} if properties.get(key) else {})
    return told


def untold(properties: Mapping[str, str], extracted: datetime) -> tuple[Later, ...]:
    """Return the later columns that no full extract has told before one.

    Columns that are younger than the extract wait for the next one.
    """
    return tuple(
        each
        for each in later_columns(properties)
        if each.filled is None and not each.is_unknown_to(extracted)
    )


def told_by_full(properties: Mapping[str, str], extracted: datetime, newest: str) -> dict[str, str]:
    """Return the properties by which a table knows that a full extract has told its later columns.

    Args:
        properties: Those of the table.
        extracted: Extraction time of the full extract, UTC.
        newest: The newest extraction time that the table knows, UTC. What has filled in values
            before an older extract came stays.
    """
    new = untold(properties, extracted)
    if not new:
        return {}
    done = {each.name for each in new}
    filled = _times(properties.get(LATER_FILLED))
    now = max(extracted, datetime.fromisoformat(newest))
    filled |= {each.name: now for each in new if each.until}
    told = {LATER_COLUMNS: ",".join(n for n in _named(properties) if n not in done)}
    return told | _text(LATER_UNTIL, _until(properties)) | _text(LATER_FILLED, filled)


def _named(properties: Mapping[str, str]) -> list[str]:
    return [name for name in properties.get(LATER_COLUMNS, "").split(",") if name]


def _until(properties: Mapping[str, str]) -> dict[str, datetime]:
    text = properties.get(LATER_UNTIL)
    if text and not text.startswith("{"):
        return dict.fromkeys(_named(properties), datetime.fromisoformat(text))
    return _times(text)


def _times(text: str | None) -> dict[str, datetime]:
    told = json.loads(text or "{}")
    return {name: datetime.fromisoformat(time) for name, time in told.items()}


def _text(key: str, times: Mapping[str, datetime]) -> dict[str, str]:
    told = {name: time.isoformat(" ") for name, time in times.items()}
    return {key: json.dumps(told)} if told else {}
