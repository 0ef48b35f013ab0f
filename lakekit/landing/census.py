"""What the records of a landing hold, counted by the fields that a contract reads."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from lakekit.contract.contract import Contract
from lakekit.contract.endpoint.paths import path_of
from lakekit.contract.fields import Steps
from lakekit.json_text.lines import object_fields, read_fields, value_along
from lakekit.landing.parquet import Footer
from lakekit.models import Model

MAX_UNKNOWN_FIELDS = 100
# Of unknown names that are in memory: where names are data, there are as many as records.
MAX_NAMES = 10_000
_NULL = b"null"


class Verdict(Model):
    """What a landing holds, measured against its contract.

    unparseable: lines that are no record, by `lakekit.json_text.lines`. missing_keys: records in
    which a key field is absent or null. unknown_fields: fields that no column is read from, those
    within an object that paths lead through as paths (at most 100). absent_fields: columns of the
    contract whose field no record carries.
    """

    run_id: str
    source: str
    endpoint: str
    rows: int
    unparseable: int
    missing_keys: int
    unknown_fields: tuple[str, ...]
    absent_fields: tuple[str, ...]

    @property
    def rejected_ratio(self) -> float:
        """The share of records that cannot be merged."""
        return (self.unparseable + self.missing_keys) / self.rows if self.rows else 0.0


class Census:
    """Counts the records of a landing."""

    def __init__(self, contract: Contract) -> None:
        self._keys = contract.key_steps
        self._columns = {column.name: column.steps for column in contract.columns}
        self._objects: dict[Steps, _Names] = {(): _Names()}
        whole = set(self._columns.values())
        for steps in whole:
            for end in range(len(steps)):
                # What is within a field that a column is read from as a whole is not unknown.
                within = any(steps[:start] in whole for start in range(1, end + 1))
                names = self._objects.setdefault(steps[:end], _Names(known_alone=within))
                names.known.add(steps[end])
        self.rows = self.unparseable = self.missing_keys = 0

    def add(self, record: dict[str, bytes] | None) -> None:
        """Count one record: the JSON text of each of its fields; None if it is unreadable."""
        self.rows += 1
        if record is None:
            self.unparseable += 1
            return
        for steps, names in self._objects.items():
            text = value_along(record, steps) if steps else None
            names.see((object_fields(text) or () if text else ()) if steps else record)
        if any(value_along(record, key) in (None, _NULL) for key in self._keys):
            self.missing_keys += 1

    def add_footer(self, footer: Footer) -> None:
        """Count a Parquet file by its footer: its values are looked at by the merge alone."""
        self.rows += footer.rows
        self._objects[()].see(footer.columns)
        # What is within a column is not known here.
        for steps, names in self._objects.items():
            if steps and steps[0] in footer.columns:
                names.see(names.known)

    def verdict(self, run_id: str, source: str, endpoint: str) -> Verdict:
        """Return the counts as a result."""
        absent = [
            name
            for name, steps in self._columns.items()
            if steps[-1] not in self._objects[steps[:-1]].seen
        ]
        unknown = sorted(
            name if not steps else path_of((*steps, name))
            for steps, names in self._objects.items()
            for name in names.unknown()
        )
        return Verdict(
            run_id=run_id,
            source=source,
            endpoint=endpoint,
            rows=self.rows,
            unparseable=self.unparseable,
            missing_keys=self.missing_keys,
            unknown_fields=tuple(unknown[:MAX_UNKNOWN_FIELDS]),
            absent_fields=tuple(absent) if self.rows else (),
        )


class Coverage(NamedTuple):
    """Fields of records that no column reads, and columns whose field no record has."""

    unknown_fields: tuple[str, ...]
    absent_fields: tuple[str, ...]


def coverage(lines: Iterable[bytes], contract: Contract) -> Coverage:
    """Return how far the columns of a contract cover the fields of some lines."""
    census = Census(contract)
    for line in lines:
        census.add(read_fields(line))
    found = census.verdict("", contract.source, contract.contract)
    return Coverage(found.unknown_fields, found.absent_fields)


class _Names:
    """The names of the fields of an object: those that are known, and those that were seen."""

    def __init__(self, *, known_alone: bool = False) -> None:
        self.known: set[str] = set()
        self.seen: set[str] = set()
        self._known_alone = known_alone

    def see(self, names: Collection[str]) -> None:
        """Note the names of the fields of one record."""
        if self._known_alone:
            self.seen.update(self.known.intersection(names))
            return
        self.seen.update(names)
        if len(self.seen) > len(self.known) + MAX_NAMES:
            self.seen = {*self.seen.intersection(self.known), *self.unknown()}

    def unknown(self) -> list[str]:
        """Return the first names that are not known, in their order."""
        return sorted(self.seen.difference(self.known))[:MAX_UNKNOWN_FIELDS]
