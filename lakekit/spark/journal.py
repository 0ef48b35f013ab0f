"""The change journal `{table}_journal`: change events that no version of the table records.

It keeps records that repeat the content of a version at another time, all records that delete, the
times of full extracts, and what one of these held of a key where no version shows it. A run without
such events writes nothing here. A run without late records reads no more than the file statistics
and the times of full extracts.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.errors import SchemaMismatchError
from lakekit.spark.iceberg.branch import branch_of
from lakekit.spark.read.parse import tie
from lakekit.spark.run import MergeRun
from lakekit.spark.schema.conform import as_contract, conform_to_table
from lakekit.spark.schema.describe import columns_of
from lakekit.spark.session.tuning import runtime_literal
from lakekit.sql.identifiers import literal, quote, quote_table
from lakekit.sql.renames import Renamings, names_over_time, renamings
from lakekit.sql.scopes import members, scope_of
from lakekit.sql.tables import ARRIVAL, JOURNAL_DDL, Op, create_journal_table
from lakekit.table_properties import CONTRACT, RUN_ID

_EXTRACT = f"_op IN ({literal(Op.FULL_EXTRACT)}, {literal(Op.LATEST_EXTRACT)})"
_LAST = "TIMESTAMP_NTZ '9999-12-31'"


@dataclass(frozen=True)
class FullExtract:
    """A merged full extract.

    time: its extraction time (ISO, UTC). scopes: None is everywhere. runs: how many runs of that
    time. latest_until: set if the table was scd1 then, the newest extraction time in it when it
    began to keep versions; of older rows the content is lost.
    """

    time: str
    scopes: tuple[str, ...] | None
    runs: int = 1
    latest_until: str | None = None


class Journal:
    """The change journal of one table."""

    def __init__(self, run: MergeRun, in_progress: Collection[str] = (), commits: int = 0) -> None:
        """Open the journal; entries of runs in progress do not count.

        Args:
            run: The run.
            in_progress: The branches of the runs in progress.
            commits: How many commits the journal had when the run began; see `ARRIVAL`.
        """
        self._run = run
        self._in_progress = in_progress
        self._commits = commits
        self._spark = run.spark
        self._contract = run.contract
        self.name = layout.journal_table(run.table)
        self.wanted = run.contract.history.keeps_journal
        self.exact = run.contract.history.exact
        self.exists = self.wanted and run.spark.catalog.tableExists(self.name)

    @cached_property
    def full_extracts(self) -> list[FullExtract]:
        """The merged full extracts, oldest first; read once.

        Raises:
            SchemaMismatchError: Their scopes are not those of the contract.
        """
        if not self.exists:
            return []
        properties = self._run.state.properties
        table = CONTRACT.read(properties)
        # A preview reads the journal before its table begins to keep versions.
        latest_only = table is not None and table.mode == "scd1"
        is_latest = f"_op = {literal(Op.LATEST_EXTRACT)}"
        until = _LAST if latest_only else f"if({is_latest}, _ingested_at, NULL)"
        times = [f"CAST({time} AS string)" for time in ("_sequence", until)]
        columns = (f"{times[0]} AS time", "_scopes", f"{times[1]} AS until", "_run_id")
        rows = self._of_others().where(_EXTRACT).selectExpr(*columns).collect()
        renamed = renamings(properties)
        at: dict[str, tuple[str, ...] | None] = {}
        untils: dict[str, list[str | None]] = {}
        runs: dict[str, set[str]] = {}
        for time, texts, ended, run_id in rows:
            runs.setdefault(time, set()).add(run_id)
            untils.setdefault(time, []).append(ended)
            scopes, other = scopes_of_today(texts, self._contract, renamed), at.get(time, ())
            # Where several extracts have one time, absence counts if it does in one.
            both = None if scopes is None or other is None else {*scopes, *other}
            at[time] = None if both is None else tuple(sorted(both))
        # One of several that was merged into versions shows them all.
        latest = {
            time: None if None in each else max(filter(None, each)) for time, each in untils.items()
        }
        return [FullExtract(t, at[t], len(runs[t]), latest[t]) for t in sorted(at)]

    def entries(self) -> DataFrame:
        """Return the entries of single keys: the stored columns and those of the journal."""
        return self._of_others().where(f"NOT {_EXTRACT}")

    def _of_others(self) -> DataFrame:
        """Return what other runs recorded; an attempt of this run may have recorded its events."""
        entries = as_contract(self._spark.table(quote_table(self.name)), self._contract)
        run_id = F.col("_run_id")
        others = run_id != self._run.batch.run_id
        if self._in_progress:
            others = others & ~branch_of(run_id).isin([*self._in_progress])
        return entries.where(others)

    def deletions(self) -> DataFrame | None:
        """Return the newest recorded deletion of each key, where order needs it.

        Exact histories are derived from all events instead.

        Returns:
            The keys, `__deleted_at` (its event time), `__deleted_tie` (what decides at that time)
            and `__deleted_in` (extraction time of its run).
        """
        if self.exact or not self.exists:
            return None
        keys = self._run.keys
        columns = (F.expr(tie(self._contract)).alias("__tie"), "_ingested_at", "_sequence")
        deletes = self.entries().where(F.col("_op") == Op.DELETE).select(*keys, *columns)
        newest = F.max(F.struct("_sequence", "__tie", "_ingested_at")).alias("__newest_delete")
        return (
            deletes.groupBy(*keys)
            .agg(newest)
            .select(
                *keys,
                F.col("__newest_delete._sequence").alias("__deleted_at"),
                F.col("__newest_delete.__tie").alias("__deleted_tie"),
                F.col("__newest_delete._ingested_at").alias("__deleted_in"),
            )
        )

    def any_since(self, time: str) -> bool:
        """Whether an entry of a key is at or after a time."""
        if not self.exists:
            return False
        since = F.lit(time).cast("timestamp_ntz")
        found = self.entries().where(F.col("_sequence") >= since)
        return bool(found.select(F.lit(1)).take(1))

    def append(self, frames: Sequence[DataFrame]) -> None:
        """Append entries: frames with the stored columns and those up to `_scopes`.

        A run that plans again, or comes again after a crash, appends them again: they are a set.
        """
        if not self.wanted or not frames:
            return
        run_id = self._run.batch.run_id
        if not self.exists:
            has = columns_of(self._spark, self._run.table)
            self._spark.sql(create_journal_table(self._contract, self.name, has))
            self.exists = True
        entries = frames[0]
        for frame in frames[1:]:
            entries = entries.unionByName(frame, allowMissingColumns=True)
        names = [*(c.name for c in self._contract.stored), *JOURNAL_DDL]
        entries = entries.withColumns({"_run_id": F.lit(run_id), ARRIVAL: self._arrival()})
        entries = conform_to_table(self._spark, entries.select(*map(quote, names)), self.name)
        writer = entries.writeTo(quote_table(self.name))
        writer.option(f"snapshot-property.{RUN_ID}", run_id).append()

    def _arrival(self) -> Expression:
        """Return when an event arrived: the run's own came after everything recorded before."""
        some = F.xxhash64(*self._run.keys) == 0
        before, own = (runtime_literal(F.lit(2 * self._commits + n), some) for n in (0, 1))
        return F.coalesce(ARRIVAL, F.when(F.col("__from_run"), own).otherwise(before))


def scopes_of_today(
    texts: Sequence[str] | None, contract: Contract, renamed: Sequence[Renamings]
) -> tuple[str, ...] | None:
    """Return the scopes of a merged extract by the names of today; None is everywhere.

    Args:
        texts: The scopes by the names of their time; None is everywhere.
        contract: Its columns and their names of today.
        renamed: The columns of the table that were renamed; see `renamings`.

    Raises:
        SchemaMismatchError: They are of other columns than those of `delete_scope`.
    """
    if texts is None or not (texts or contract.history.delete_scope):
        return None
    return tuple(_scope_of_today(text, contract, renamed) for text in texts)


def _scope_of_today(text: str, contract: Contract, renamed: Sequence[Renamings]) -> str:
    recorded, scope = dict(members(text)), contract.history.delete_scope
    values = {name.lower(): value for name, value in recorded.items()}
    for names in names_over_time(scope, renamed):
        if values.keys() == {*names}:
            return scope_of(zip(scope, map(values.__getitem__, names), strict=True))
    raise SchemaMismatchError(
        f"{contract.contract}: delete_scope is {list(scope)}, but was {list(recorded)} when full "
        "extracts were merged, and what they lacked cannot be judged by other columns: keep it "
        "as it was, or begin a table under another name"
    )
