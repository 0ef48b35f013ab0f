"""One table of a warehouse: what is, what was, what changed, what its runs did."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lakekit.duckdb.overview import described
from lakekit.duckdb.reader import no_version
from lakekit.errors import InvalidStepInputError
from lakekit.values import parse_time, to_text
from lakekit.warehouse.places import Place
from lakekit.warehouse.rows import Rows, made
from lakekit.warehouse.runs import runs_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Time = datetime | str
Key = Mapping[str, Any] | Any


class Table:
    """A table by its name; each answer shows its newest commit."""

    def __init__(self, place: Place, name: str) -> None:
        self._place = place
        self.name = name

    def describe(self) -> Rows:
        """Return a row for each column: its type, its role in the history, its description."""
        with self._place.reader() as reader:
            columns, rows = described(reader.table(self.name), every=True)
            return made(columns, list(rows))

    def current(self) -> Rows:
        """Return the rows that are valid now, in the order of their keys.

        Raises:
            SchemaMismatchError: The table has no history.
        """
        with self._place.reader() as reader:
            return Rows(reader.arrow(reader.ask_current(self.name)))

    def as_of(self, time: Time) -> Rows:
        """Return the rows that were valid at a time, in the order of their keys.

        Args:
            time: With a zone, as a `datetime` or as a text such as 2026-01-01T00:00:00Z.

        Raises:
            InvalidStepInputError: It is no time, or has no zone.
            SchemaMismatchError: The table has no history.
        """
        at = _time("as_of", time)
        with self._place.reader() as reader:
            return Rows(reader.arrow(reader.ask_as_of(self.name, at)))

    def changes(self, start: Time, end: Time) -> Rows:
        """Return what happened after `start`, up to and with `end`.

        The columns are `_change` (inserted, updated or deleted), `_changed_at`, those of a version,
        and `_old`: of an update, the version before.

        Raises:
            InvalidStepInputError: The first time is after the second, is no time, or has no zone.
            SchemaMismatchError: The table has no history, or does not say what its keys are.
        """
        between = _time("changes from", start), _time("changes to", end)
        with self._place.reader() as reader:
            return Rows(reader.arrow(reader.ask_changes(self.name, *between)))

    def history(self, key: Key) -> Rows:
        """Return the versions of the keys that have some values, oldest first.

        Args:
            key: A value for each column, such as `{"region": "eu", "id": 7}`; some may be left out.
                If the key has one column, its value is enough.

        Raises:
            InvalidStepInputError: There is no such column or version, or a value does not fit.
            SchemaMismatchError: The table has no history.
        """
        with self._place.reader() as reader:
            wanted = _texts(self.name, reader.table(self.name).keys, key)
            found = reader.arrow(reader.ask_history(self.name, wanted))
            if not found.num_rows:
                raise no_version(self.name, wanted)
            return Rows(found)

    def runs(self) -> Rows:
        """Return a row for each commit of a run that the table still shows, oldest first.

        The columns are `committed_at` and `extraction_time` (UTC), `runs` (their ids: a pass over
        several landings has several), `opened` and `closed` (versions), `quarantined` (records).
        The counts are null where the snapshot before has expired.

        Raises:
            SchemaMismatchError: The table has no history.
        """
        with self._place.reader() as reader:
            return runs_of(reader, self.name)

    def plot_history(
        self, key: Key, columns: Sequence[str] | None = None, ax: "Axes | None" = None
    ) -> "Axes":
        """Draw the versions of one key as bars, a line for each column that changed.

        Args:
            key: As in `history`; it must be one key.
            columns: Instead of those that changed.
            ax: Where to draw; a new figure otherwise.

        Raises:
            InvalidStepInputError: As `history`; there are several keys, or no such column; or
                matplotlib is not installed.
        """
        from lakekit.warehouse.plots import plot_history  # noqa: PLC0415  matplotlib is optional

        with self._place.reader() as reader:
            keys = reader.table(self.name).keys
        return plot_history(self.name, keys, self.history(key), columns, ax)

    def plot_runs(self, ax: "Axes | None" = None) -> "Axes":
        """Draw what each run opened, closed and quarantined; see `runs`.

        Raises:
            InvalidStepInputError: No run is to be seen, or matplotlib is not installed.
        """
        from lakekit.warehouse.plots import plot_runs  # noqa: PLC0415  matplotlib is optional

        return plot_runs(self.name, self.runs(), ax)

    def __repr__(self) -> str:
        return f"<Table {self.name} of {self._place}>"


def _time(name: str, time: Time) -> datetime:
    return parse_time(name, time if isinstance(time, str) else time.isoformat())


def _texts(table: str, keys: Sequence[str], key: Key) -> dict[str, str]:
    """Return a key as a command takes it: columns with texts."""
    if not isinstance(key, Mapping):
        if len(keys) != 1:
            raise InvalidStepInputError(
                f"{table}: its key is {', '.join(keys) or 'not known'}; give a value for each "
                f"column, such as {{'{keys[0] if keys else 'id'}': ...}}"
            )
        key = {keys[0]: key}
    if not key:
        raise InvalidStepInputError(f"{table}: give a value of {', '.join(keys)}")
    return {column: to_text(value) for column, value in key.items()}
