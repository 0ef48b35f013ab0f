"""The work of one merge: what its steps share."""

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakekit.batch import Batch, naive_utc
from lakekit.contract.contract import Contract
from lakekit.spark.iceberg.table import current_file_sizes, load_table, properties_of
from lakekit.spark.schema.conform import in_contract_form
from lakekit.spark.session.tuning import (
    FEW_FILES,
    INTERPRETED,
    LITTLE_BYTES,
    LITTLE_ROWS,
    PLANNED_ONCE,
    PUBLISHED_ONCE,
    SHORT,
    are_few,
    are_written_anew,
)
from lakekit.sql.added_columns import Later, later_columns
from lakekit.sql.identifiers import moment_literal, quote, quote_table
from lakekit.sql.line_hash import EVOLVED, reading
from lakekit.sql.tables import marks


@dataclass(frozen=True)
class Merge:
    """One run into one table.

    table: its identifier. place: folder for the change set, an address that Spark writes.
    """

    spark: SparkSession
    contract: Contract
    batch: Batch
    table: str
    place: str

    @property
    def keys(self) -> list[Expression]:
        """The natural key as columns."""
        return [F.col(quote(key)) for key in self.contract.keys]

    @property
    def moment(self) -> Expression:
        """The run's extraction time, UTC, without zone."""
        return F.expr(moment_literal(naive_utc(self.batch.extraction_time)))

    @property
    def full(self) -> bool:
        """Whether the run is a full extract."""
        return self.batch.extract == "full"

    @property
    def partial(self) -> bool:
        """Whether a null in a record of the run means "not changed"."""
        return self.contract.history.ignore_null_updates and self.batch.extract == "changes"

    @cached_property
    def current_sizes(self) -> list[int]:
        """Bytes of the files of current versions, as they were when it was first asked.

        Of many files, some.
        """
        return current_file_sizes(self.spark, self.table, FEW_FILES + 1)

    @property
    def is_small(self) -> bool:
        """Whether the current versions are few."""
        return are_few(self.current_sizes)

    @property
    def writes_anew(self) -> bool:
        """Whether the run writes all of them anew, if it changes some."""
        return are_written_anew(self.current_sizes)

    @property
    def reading(self) -> str:
        """The name of the way in which its lines become rows."""
        return reading(self.contract, self.properties.get(EVOLVED, ""))

    @property
    def settings(self) -> dict[str, str]:
        """What the session is told for this run beside the settings of its job."""
        size = self.batch.bytes
        if size is None:
            return {}
        if size <= SHORT and self.is_small:
            return INTERPRETED
        return PLANNED_ONCE if size <= LITTLE_BYTES and self._moves_batch_only else {}

    @property
    def _moves_batch_only(self) -> bool:
        """Whether neither all versions are shuffled beside the batch, nor all known deletions."""
        history = self.contract.history
        beside = history.mode == "append" or (history.remembers and not history.exact)
        return not (self.full or beside)

    def settings_for(self, *, rows: int = 0, size: int = 0) -> dict[str, str]:
        """Return what the session is told, beside `settings`, for one part of the run.

        Args:
            rows: How many records and versions it shuffles, at most.
            size: How many bytes else, by an estimate.
        """
        little = rows <= LITTLE_ROWS and size <= LITTLE_BYTES
        return PLANNED_ONCE if little and not self.settings else {}

    def settings_to_publish(self, rows: int) -> dict[str, str]:
        """Return what the session is told, beside `settings`, to publish so many rows."""
        if self.settings == INTERPRETED:
            return {}
        return PUBLISHED_ONCE if rows <= LITTLE_ROWS or self.settings else {}

    @cached_property
    def properties(self) -> dict[str, str]:
        """The properties of the table, as they were when they were first asked for."""
        return properties_of(load_table(self.spark, self.table))

    @property
    def later(self) -> tuple[Later, ...]:
        """The tracked columns that the table got later, if that opens no versions."""
        if self.contract.history.new_column == "reversion":
            return ()
        tracked = {column.name for column in self.contract.tracked}
        return tuple(each for each in later_columns(self.properties) if each.name in tracked)

    def ends_ahead(self) -> bool:
        """Whether a version that is not current ended after the run was extracted."""
        ended = ~F.col("_is_current") & (F.col("_valid_to") > self.moment)
        return bool(self.versions().where(ended).select(F.lit(1)).take(1))

    def versions(self) -> DataFrame:
        """Return all versions of main."""
        return in_contract_form(self.spark.table(quote_table(self.table)), self.contract)

    def current(self) -> DataFrame:
        """Return the current versions of main."""
        return self.versions().where("_is_current")

    def alive(self) -> DataFrame:
        """Return the current versions of main that do not say deleted."""
        current = self.current()
        return current.where("NOT _is_deleted") if marks(self.contract) else current
