"""The work of one merge: what its steps share."""

from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakekit.batch import Batch, naive_utc
from lakekit.contracts import Contract
from lakekit.spark.tables import table_property
from lakekit.sql.identifiers import quote, quote_table


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
        return F.lit(naive_utc(self.batch.extraction_time)).cast("timestamp_ntz")

    @property
    def full(self) -> bool:
        """Whether the run is a full extract."""
        return self.batch.extract == "full"

    def table_property(self, name: str) -> str:
        """Return one property of the table, empty if it is not set."""
        return table_property(self.spark, self.table, name)

    def before(self, moment: str) -> bool:
        """Whether the run was extracted before a moment (ISO, UTC, without zone)."""
        return naive_utc(self.batch.extraction_time) < datetime.fromisoformat(moment)

    def versions(self) -> DataFrame:
        """Return all versions of main."""
        return self.spark.table(quote_table(self.table))

    def current(self) -> DataFrame:
        """Return the current versions of main."""
        return self.versions().where("_is_current")
