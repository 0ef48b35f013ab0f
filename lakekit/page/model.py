"""What the page shows, as a document: tables, runs, and what needs a person. Times are UTC."""

from typing import Literal

from pydantic import AwareDatetime, Field

from lakekit.models import Model

Severity = Literal["act", "look"]


class Need(Model):
    """Something that a person should see, and the commands that answer it.

    severity: `act` where data stop until somebody decides, else `look`. table: whose it is, if it
    is of one.
    """

    severity: Severity
    title: str
    detail: str = ""
    commands: tuple[str, ...] = ()
    table: str | None = None


class Load(Model):
    """What one load did to a table; records: those that came in, if it is known."""

    at: AwareDatetime
    opened: int = 0
    closed: int = 0
    quarantined: int = 0
    records: int | None = None

    @property
    def quarantine_share(self) -> float | None:
        """The share of the records that were rejected."""
        return self.quarantined / self.records if self.records else None


class PageColumn(Model):
    """A column of a table.

    nulls: of the current rows, how many have none of its values. changed_at: when a version last
    differed in it from the version before; changes: how many did. added_at: when the table got it,
    if that was after its beginning. None: not known.
    """

    name: str
    type: str
    role: str | None = None
    description: str = ""
    nulls: int | None = None
    changes: int | None = None
    changed_at: AwareDatetime | None = None
    added_at: AwareDatetime | None = None


class Snapshot(Model):
    """A commit on main: rows that it added, and the rows that the table has after it."""

    at: AwareDatetime
    operation: str
    added: int
    rows: int
    runs: tuple[str, ...] = ()


class Change(Model):
    """A column in which a version differs from the one before; values as texts, cut."""

    column: str
    old: str
    new: str


class Version(Model):
    """One version of a key; changes: at most a few; more: how many columns changed next to them."""

    valid_from: AwareDatetime
    valid_to: AwareDatetime | None
    is_deleted: bool = False
    changes: tuple[Change, ...] = ()
    more: int = 0


class KeyHistory(Model):
    """The versions of one key, oldest first; count: how many there are, shown or not."""

    key: str
    count: int
    versions: tuple[Version, ...]


class Rejects(Model):
    """Rejected records with one reason: how many, since when, some of them, cut."""

    reason: str
    count: int
    newest: AwareDatetime | None = None
    samples: tuple[str, ...] = ()


class Files(Model):
    """The files of a table by its newest snapshot; fault: what maintenance would do about them."""

    data: int = 0
    deletes: int = 0
    bytes: int = 0
    snapshots: int = 0
    fault: str | None = None


class Lineage(Model):
    """Where a table comes from, and which views read it; empty where it is not known."""

    source: str | None = None
    address: str = ""
    views: tuple[str, ...] = ()


class PageTable(Model):
    """One table.

    rows: its versions. loaded_at: when something was last loaded. stale: it should have been since.
    """

    name: str
    kind: str
    description: str = ""
    keys: tuple[str, ...] = ()
    sequence_by: str | None = None
    partition: tuple[str, ...] = ()
    rows: int | None = None
    current: int | None = None
    loaded_at: AwareDatetime | None = None
    stale: bool = False
    loads: tuple[Load, ...] = ()
    files: Files = Files()
    columns: tuple[PageColumn, ...] = ()
    snapshots: tuple[Snapshot, ...] = ()
    histories: tuple[KeyHistory, ...] = ()
    rejects: tuple[Rejects, ...] = ()
    attached: tuple[str, ...] = ()
    lineage: Lineage = Lineage()


class PageRun(Model):
    """One run: its outcome, its seconds, what its jobs cost, what it did to each table."""

    run_id: str
    source: str | None
    outcome: str
    started_at: AwareDatetime
    seconds: float | None = None
    cost_usd: float | None = None
    tables: dict[str, Load | None] = Field(default_factory=dict)
    error: str | None = None
    cause: str | None = None


class Page(Model):
    """All of it. place: its name; option: by which commands name it; notes: what is not shown."""

    place: str
    option: str
    written_at: AwareDatetime
    needs: tuple[Need, ...] = ()
    tables: tuple[PageTable, ...] = ()
    runs: tuple[PageRun, ...] = ()
    notes: tuple[str, ...] = ()
