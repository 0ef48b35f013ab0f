"""The companion table: facts that late changes need and that show in no version of their own.

It holds records that only re-assert what is known, all records that delete, the moments of full
extracts, and what one of these held where no version shows it. A run without such facts writes
nothing here, and a run without late records reads no more than the file statistics and the moments
of full extracts.

The scopes within which absence from a full extract counts, each as a JSON object.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit import layout
from lakekit.batch import RUN_ID
from lakekit.contract.contract import Contract
from lakekit.errors import SchemaMismatchError
from lakekit.spark.iceberg.branch import branch_of
from lakekit.spark.read.parse import tie
from lakekit.spark.run import Merge
from lakekit.spark.schema.conform import dropped_in, in_contract_form, in_table_form
from lakekit.spark.schema.describe import columns_of
from lakekit.spark.session.tuning import kept_apart
from lakekit.sql.identifiers import quote, quote_table
from lakekit.sql.renames import Renamings, names_over_time, renamings
from lakekit.sql.scopes import members, scope_of
from lakekit.sql.tables import ARRIVED, FACTS_DDL, MODE, create_facts_table

_FULL = "_op IN ('X', 'L')"
_LAST = "TIMESTAMP_NTZ '9999-12-31'"


@dataclass(frozen=True)
class FullExtract:
    """A full extract that is merged: its moment (ISO, UTC) and its scopes; None is everywhere.

    runs: of how many runs of that moment it is.
    latest_until: if the table kept the latest rows only then, the newest extraction time that it
    knew when it began to keep versions; of older rows it has forgotten what they held.
    """

    moment: str
    scopes: tuple[str, ...] | None
    runs: int = 1
    latest_until: str | None = None


class Facts:
    """The companion of one table."""

    def __init__(self, merge: Merge, under_way: Collection[str] = (), commits: int = 0) -> None:
        """Open the companion; what the runs of some branches told does not count.

        Args:
            merge: The run.
            under_way: The branches.
            commits: How many the companion had had when the run began; see `ARRIVED`.
        """
        self._merge = merge
        self._under_way = under_way
        self._commits = commits
        self._spark = merge.spark
        self._contract = merge.contract
        self.name = layout.facts_table(merge.table)
        self.wanted = merge.contract.history.remembers
        self.exact = merge.contract.history.exact
        self.exists = self.wanted and merge.spark.catalog.tableExists(self.name)

    @cached_property
    def full_extracts(self) -> list[FullExtract]:
        """The full extracts that are merged, oldest first; read once.

        Raises:
            SchemaMismatchError: Their scopes are not those of the contract.
        """
        if not self.exists:
            return []
        merged = self._told().where(_FULL)
        # A preview sees the companion before its table begins to keep versions.
        latest_only = self._merge.properties.get(MODE) == "scd1"
        until = _LAST if latest_only else "if(_op = 'L', _ingested_at, NULL)"
        moments = [f"CAST({time} AS string)" for time in ("_sequence", until)]
        columns = (f"{moments[0]} AS moment", "_scopes", f"{moments[1]} AS until", "_run_id")
        rows = merged.selectExpr(*columns).collect()
        renamed = renamings(self._merge.properties)
        at: dict[str, tuple[str, ...] | None] = {}
        untils: dict[str, list[str | None]] = {}
        runs: dict[str, set[str]] = {}
        for moment, texts, until, run_id in rows:
            runs.setdefault(moment, set()).add(run_id)
            untils.setdefault(moment, []).append(until)
            scopes, other = known_scopes(texts, self._contract, renamed), at.get(moment, ())
            # Of several extracts of one moment, absence counts where it does in one.
            both = None if scopes is None or other is None else {*scopes, *other}
            at[moment] = None if both is None else tuple(sorted(both))
        # One of several that was merged into versions tells them all.
        latest = {
            m: None if None in each else max(filter(None, each)) for m, each in untils.items()
        }
        return [FullExtract(m, at[m], len(runs[m]), latest[m]) for m in sorted(at)]

    def records(self) -> DataFrame:
        """Return the records: the stored columns and those of the companion."""
        return self._told().where(f"NOT {_FULL}")

    @cached_property
    def _stored(self) -> DataFrame:
        return self._spark.table(quote_table(self.name))

    @property
    def _knows_arrivals(self) -> bool:
        """Whether the companion has `ARRIVED`; an older one gets it by CreateTables."""
        return ARRIVED in self._stored.columns

    def _told(self) -> DataFrame:
        """Return what other runs have told; an attempt of this one may have told its facts."""
        facts, run_id = in_contract_form(self._stored, self._contract), F.col("_run_id")
        if not self._knows_arrivals:
            facts = facts.withColumn(ARRIVED, F.lit(None).cast("bigint"))
        told = run_id != self._merge.batch.run_id
        if self._under_way:
            told = told & ~branch_of(run_id).isin([*self._under_way])
        return facts.where(told)

    def newest_by_scope(self) -> dict[str | None, str] | None:
        """Return the moment of the newest full extract of each scope, if order needs it.

        None stands for the scopes that are not named, after an extract that told of them all.
        What lies in another scope, no extract has found gone.
        """
        if not self._contract.history.judges_by_scope:
            return None
        newest: dict[str | None, str] = {}
        # The oldest come first.
        for each in self.full_extracts:
            if each.scopes is None:
                newest = {None: each.moment}
            newest |= dict.fromkeys(each.scopes or (), each.moment)
        return newest

    def deletions(self) -> DataFrame | None:
        """Return the newest known deletion of each key, where order needs it.

        `__deleted_at` is its moment, `__deleted_tie` what decides at that moment, `__deleted_in`
        the extraction time of its run. Exact histories are derived from all facts instead. Where
        full extracts tell of scopes only, they do not tell when a key was gone: its versions do.
        """
        if self.exact or not self.exists:
            return None
        history, keys = self._contract.history, self._merge.keys
        columns = [*keys, F.expr(tie(self._contract)).alias("__tie"), F.col("_ingested_at")]
        told = self.records().where("_op = 'D'").select(*columns, "_sequence")
        if history.delete_scope and history.mode == "scd2":
            ended = self._merge.versions().where("NOT _is_current")
            told = told.unionByName(ended.select(*columns, F.col("_valid_to").alias("_sequence")))
        newest = F.max(F.struct("_sequence", "__tie", "_ingested_at")).alias("__newest_delete")
        deletes = told.groupBy(*keys).agg(newest)
        return deletes.select(
            *keys,
            F.col("__newest_delete._sequence").alias("__deleted_at"),
            F.col("__newest_delete.__tie").alias("__deleted_tie"),
            F.col("__newest_delete._ingested_at").alias("__deleted_in"),
        )

    def any_since(self, moment: str) -> bool:
        """Whether a record is known at or after a moment."""
        since = F.lit(moment).cast("timestamp_ntz")
        if not self.exists:
            return False
        found = self.records().where(F.col("_sequence") >= since)
        return bool(found.select(F.lit(1)).take(1))

    def remember(self, frames: Sequence[DataFrame]) -> None:
        """Append facts: frames with the stored columns and those up to `_scopes`.

        A run that plans again, or comes again after a crash, tells them again: they are a set.
        """
        if not self.wanted or not frames:
            return
        run_id = self._merge.batch.run_id
        if not self.exists:
            has = columns_of(self._spark, self._merge.table)
            self._spark.sql(create_facts_table(self._contract, self.name, has))
            self.exists = True
        facts = frames[0]
        for frame in frames[1:]:
            facts = facts.unionByName(frame, allowMissingColumns=True)
        kept = dropped_in(self._spark, facts, self._contract, self.name)
        own = [name for name in FACTS_DDL if name != ARRIVED or self._knows_arrivals]
        names = [*(c.name for c in self._contract.stored), *own, *kept]
        facts = facts.withColumns({"_run_id": F.lit(run_id), ARRIVED: self._arrived()})
        facts = facts.select(*map(quote, names))
        facts = in_table_form(self._spark, facts, self.name)
        facts.writeTo(quote_table(self.name)).option(f"snapshot-property.{RUN_ID}", run_id).append()

    def _arrived(self) -> Expression:
        """Return when a fact arrived: what the run itself says came after all that is known."""
        some = F.xxhash64(*self._merge.keys) == 0
        known, said = (kept_apart(F.lit(2 * self._commits + more), some) for more in (0, 1))
        return F.coalesce(ARRIVED, F.when(F.col("__said"), said).otherwise(known))


def known_scopes(
    texts: Sequence[str] | None, contract: Contract, renamed: Sequence[Renamings]
) -> tuple[str, ...] | None:
    """Return the scopes of an extract that is merged, by the names of today; None is everywhere.

    Args:
        texts: The scopes by the names of their time; None is everywhere.
        contract: Its columns and their names of today.
        renamed: The columns of the table that were renamed; see `renamings`.

    Raises:
        SchemaMismatchError: They are of other columns than those of `delete_scope`.
    """
    if texts is None or not (texts or contract.history.delete_scope):
        return None
    return tuple(_by_names_of_today(text, contract, renamed) for text in texts)


def _by_names_of_today(text: str, contract: Contract, renamed: Sequence[Renamings]) -> str:
    told, scope = dict(members(text)), contract.history.delete_scope
    values = {name.lower(): value for name, value in told.items()}
    # A table that was renamed before it noted that tells nothing.
    said = {c.renamed_from.lower(): c.name.lower() for c in contract.columns if c.renamed_from}
    for names in names_over_time(scope, [said, *renamed]):
        if values.keys() == {*names}:
            return scope_of(zip(scope, map(values.__getitem__, names), strict=True))
    raise SchemaMismatchError(
        f"{contract.contract}: delete_scope is {list(scope)}, but was {list(told)} when full "
        "extracts were merged, and what they lacked cannot be judged by other columns: keep it "
        "as it was, or begin a table under another name"
    )
