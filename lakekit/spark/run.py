"""One run into one table: the run as a value, and the table as the run found it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakekit.batch import Batch, naive_utc
from lakekit.contract.contract import Contract
from lakekit.spark.iceberg.table import current_file_sizes, load_table, properties_of
from lakekit.spark.schema.conform import as_contract, no_rows
from lakekit.spark.session.tuning import (
    INTERPRETED,
    PLANNED_ONCE,
    PUBLISHED_ONCE,
    Tuning,
)
from lakekit.sql.added_columns import AddedColumn, added_columns
from lakekit.sql.identifiers import ntz_literal, quote, quote_table
from lakekit.sql.line_hash import parse_fingerprint
from lakekit.sql.tables import control_ddl, first_properties, marks
from lakekit.table_properties import line_digests

Use = Callable[[], Mapping[str, str]]


class NoPassError(Exception):
    """The landings of a run must be merged one after the other."""


@dataclass(frozen=True)
class TableState:
    """A table as a run found it. Its metadata is read once; its rows are a frame, read when needed.

    versions: all versions of main, in the contract's schema; see `as_contract`. columns: names of
    the table's columns. properties: the table's. current_sizes: bytes of the files of current
    versions, some of them where there are many. added: tracked columns that are still backfilled.
    marks_deletes: whether a version may say that its key is deleted. newest_full: time of the
    newest merged full extract (ISO, UTC), where the journal has one. behind: the run is a full
    extract older than the end of a version that is not current.
    """

    versions: DataFrame
    columns: Sequence[str] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    current_sizes: tuple[int, ...] = ()
    added: tuple[AddedColumn, ...] = ()
    marks_deletes: bool = False
    newest_full: str | None = None
    behind: bool = False

    @property
    def current(self) -> DataFrame:
        """The current versions."""
        return self.versions.where("_is_current")

    @property
    def undeleted(self) -> DataFrame:
        """The current versions of keys that are not deleted."""
        return self.current.where("NOT _is_deleted") if self.marks_deletes else self.current

    def ends_after(self, time: Expression) -> bool:
        """Whether a version that is not current ended after a time."""
        ended = ~F.col("_is_current") & (F.col("_valid_to") > time)
        return bool(self.versions.where(ended).select(F.lit(1)).take(1))


def read_state(
    spark: SparkSession, contract: Contract, table: str, tuning: Tuning | None = None
) -> TableState:
    """Read a table; the rows come from the snapshot that main is at."""
    most = (tuning or Tuning()).few_files + 1
    properties = properties_of(load_table(spark, table))
    stored = spark.table(quote_table(table))
    return TableState(
        versions=as_contract(stored, contract),
        columns=stored.columns,
        properties=properties,
        current_sizes=tuple(current_file_sizes(spark, table, most)),
        added=backfilled_columns(contract, properties),
        marks_deletes=marks(contract),
    )


def no_table(spark: SparkSession, contract: Contract) -> TableState:
    """Return the state of a table that is yet to be made by its contract."""
    own = {name: ddl.partition(" COMMENT ")[0] for name, ddl in control_ddl(contract).items()}
    types = {column.name: column.type for column in contract.stored} | own
    return TableState(
        versions=no_rows(spark, types),
        columns=[*types],
        properties=first_properties(contract),
        marks_deletes=marks(contract),
    )


def backfilled_columns(
    contract: Contract, properties: Mapping[str, str]
) -> tuple[AddedColumn, ...]:
    """Return the tracked columns that a table got later, if that opens no versions."""
    if contract.history.new_column == "reversion":
        return ()
    tracked = {column.name for column in contract.tracked}
    return tuple(each for each in added_columns(properties) if each.name in tracked)


@dataclass(frozen=True)
class MergeRun:
    """One run into one table.

    table: its identifier. staging: folder for the change set, an address that Spark writes.
    landings: those that the run merges in one pass; empty if it is that of one alone. use: returns
    the snapshot properties of what the run has used so far.
    """

    spark: SparkSession
    contract: Contract
    batch: Batch
    table: str
    staging: str
    state: TableState
    tuning: Tuning = field(default_factory=Tuning)
    landings: tuple[Batch, ...] = ()
    use: Use = dict

    @property
    def keys(self) -> list[Expression]:
        """The natural key as columns."""
        return [F.col(quote(key)) for key in self.contract.keys]

    @property
    def extracted(self) -> Expression:
        """The run's extraction time, UTC, without zone."""
        return F.expr(ntz_literal(naive_utc(self.batch.extraction_time)))

    @property
    def full(self) -> bool:
        """Whether the run is a full extract."""
        return self.batch.extract == "full"

    @property
    def fingerprint(self) -> str:
        """The name of the way in which its lines become rows."""
        changes = line_digests(self.state.properties).schema_changes
        return parse_fingerprint(self.contract, changes)

    @property
    def is_small(self) -> bool:
        """Whether the current versions are few."""
        return self.tuning.are_few(self.state.current_sizes)

    @property
    def rewrites_current(self) -> bool:
        """Whether the run writes all current versions again, if it changes some."""
        return self.tuning.are_rewritten(self.state.current_sizes)

    @property
    def settings(self) -> dict[str, str]:
        """The settings of this run in addition to those of its job."""
        size = self.batch.bytes
        if size is None:
            return {}
        if size <= self.tuning.short_bytes and self.is_small:
            return INTERPRETED
        return PLANNED_ONCE if size <= self.tuning.little_bytes and self._moves_batch_only else {}

    @property
    def _moves_batch_only(self) -> bool:
        """Whether neither all versions nor all recorded deletions are shuffled with the batch."""
        history = self.contract.history
        more = history.mode == "append" or (history.keeps_journal and not history.exact)
        return not (self.full or more)

    def settings_for(self, *, rows: int = 0, size: int = 0) -> dict[str, str]:
        """Return the settings, in addition to `settings`, of one part of the run.

        Args:
            rows: How many records and versions it shuffles, at most.
            size: How many other bytes, by an estimate.
        """
        little = rows <= self.tuning.little_rows and size <= self.tuning.little_bytes
        return PLANNED_ONCE if little and not self.settings else {}

    def settings_to_publish(self, rows: int) -> dict[str, str]:
        """Return the settings, in addition to `settings`, to publish so many rows."""
        if self.settings == INTERPRETED:
            return {}
        return PUBLISHED_ONCE if rows <= self.tuning.little_rows or self.settings else {}
