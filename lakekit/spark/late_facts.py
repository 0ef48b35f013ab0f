"""All that is known of some keys, as facts: one row for each moment at which something is said.

The facts of a key are its versions and the gaps between them, the companion's records, what full
extracts say (a key is there or it is not), and the records of the run.
"""

from collections.abc import Sequence

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.spark import order
from lakekit.spark.context import Merge
from lakekit.spark.fact import ABSENCE, PRESENCE, RECORD, TOLD, fact, renewed_after
from lakekit.spark.facts import Facts, FullExtract
from lakekit.spark.forms import dropped_names, with_dropped_of
from lakekit.spark.late_extracts import full_extract_facts
from lakekit.spark.later import shows_first_values
from lakekit.spark.records import sequence_of
from lakekit.sql.identifiers import quote
from lakekit.sql.row_hash import row_hash
from lakekit.sql.tables import ARRIVED, marks

# As JSON tells them by itself, times are cut to milliseconds.
_WHOLE_TIMES = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "timeZone": "UTC",
}


def with_neighbours(versions: DataFrame, contract: Contract) -> DataFrame:
    """Add when the next version of a key begins (`__next`), and whether one is `__split`.

    Two that meet and hold the same in what is tracked now were told apart by what was tracked when
    the table was merged: they stay two.
    """
    forward = Window.partitionBy(*map(quote, contract.keys)).orderBy("_valid_from")
    gone = F.col("_is_deleted") if marks(contract) else F.lit(False)
    state = F.when(~gone, F.expr(row_hash(contract.tracked)))
    before = F.lag(F.struct(F.col("_valid_to").alias("to"), "__state")).over(forward)
    split = (before["to"] == F.col("_valid_from")) & (before["__state"] == F.col("__state"))
    rows = versions.withColumn("__state", state).withColumns(
        {
            "__next": F.lead("_valid_from").over(forward),
            "__split": F.coalesce(split, F.lit(False)),
        }
    )
    return rows.drop("__state")


def gather_facts(
    merge: Merge, existing: DataFrame, own: DataFrame, keys: DataFrame, facts: Facts
) -> DataFrame:
    """Return every fact about some keys.

    Args:
        merge: The run.
        existing: All versions of these keys, each with `__earliest` and its neighbours.
        own: The staged rows of these keys.
        keys: The keys, with `__earliest`: what full extracts said before that moment the versions
            show, and the gaps between them.
        facts: The table's companion.

    Returns:
        The stored columns, `_source_file`, `__ingested` (extraction time of its run), `__moment`,
        `__gone`, `__priority`, `__position`, and flags: `__said` (by this run), `__shown` (by a
        version that may show a later one), `__first_values` (by a version that may have got some),
        `__known` (by the companion), `__version` and `__split`. What the companion tells has an
        `__arrived`; what else is known came later, as it shows.
        An absence counts within `__scopes` only; null is everywhere. If there are dropped columns,
        also these, as far as a fact knows them, and `__dropped`, a hash of what a version holds in
        them.
    """
    extracts, names = facts.full_extracts, list(merge.contract.keys)
    known = None
    if facts.exists:
        known = with_dropped_of(facts.records(), existing, merge.contract)
        known = known.join(keys, names, "left_semi")
    parts = [
        _versions(existing, merge, extracts),
        _gaps(existing, merge.contract, extracts),
        _said(own, merge),
    ]
    if merge.full:
        parts.append(_presence(own, merge))
    if known is not None:
        if extracts:
            parts.append(full_extract_facts(merge, keys, existing, known, extracts))
        parts.append(_known(known.where("_op != 'W'"), merge.contract))
    union = parts[0]
    for part in parts[1:]:
        union = union.unionByName(part, allowMissingColumns=True)
    return union if dropped_names(existing, merge.contract) else union.drop("__dropped")


def _versions(existing: DataFrame, merge: Merge, full: Sequence[FullExtract]) -> DataFrame:
    """Each version says its content at its start; one that a full extract brought back less so.

    One whose untracked columns were renewed shows a later record (`__shown`): the companion knows
    the one of its start. So it may of one that shows a first value of a later column.
    """
    contract, start = merge.contract, F.col("_valid_from")
    brought = _at_extract(start, full) & (sequence_of(contract) < start)
    gone = F.col("_is_deleted") if marks(contract) else F.lit(False)
    existing = existing.where(~(gone & _told_by_extract(start, full)))
    rank = F.when(gone, ABSENCE).when(brought, PRESENCE).otherwise(RECORD)
    partial = contract.history.ignore_null_updates
    renewed = renewed_after(start, contract)
    names = dropped_names(existing, contract)
    held = F.xxhash64(F.to_json(F.struct(*map(quote, names)), _WHOLE_TIMES)) if names else None
    return fact(
        contract, existing, ingested=F.col("_ingested_at"), moment=start, gone=gone,
        priority=rank, shown=F.lit(True) if partial else renewed, version=F.lit(True),
        first_values=shows_first_values(merge.later), split=F.col("__split"),
        dropped=None if held is None else F.when(~gone, held), held=names,
    )  # fmt: skip


def _at_extract(moment: Expression, full: Sequence[FullExtract]) -> Expression:
    return moment.isin([F.lit(each.moment).cast("timestamp_ntz") for each in full])


def _told_by_extract(moment: Expression, full: Sequence[FullExtract]) -> Expression:
    """Whether a full extract says itself who was absent, and where that counts."""
    return _at_extract(moment, full) & (moment >= F.col("__earliest"))


def _gaps(existing: DataFrame, contract: Contract, full: Sequence[FullExtract]) -> DataFrame:
    """A version that ends without a next one says that its key is gone, if no extract says it."""
    ends = existing.where("_valid_to IS NOT NULL AND (__next IS NULL OR __next > _valid_to)")
    ends = ends.where(~_told_by_extract(F.col("_valid_to"), full))
    return fact(
        contract, ends, ingested=F.col("_ingested_at"), moment=F.col("_valid_to"),
        gone=F.lit(True), priority=ABSENCE,
    )  # fmt: skip


def _known(records: DataFrame, contract: Contract) -> DataFrame:
    return fact(
        contract, records, ingested=F.col("_ingested_at"), moment=F.col("_sequence"),
        gone=F.col("_op") == "D", known=F.lit(True), partial=F.col("_partial"),
        arrived=F.coalesce(ARRIVED, F.lit(0)),
        priority=F.when(F.col("_op") == "P", TOLD).otherwise(RECORD),
        held=dropped_names(records, contract),
    )  # fmt: skip


def _said(own: DataFrame, merge: Merge) -> DataFrame:
    contract, content = merge.contract, own
    scoped = merge.full and contract.history.delete_scope
    if contract.history.ignore_null_updates:
        names = contract.content
        content = own.withColumns({name: F.col(f"__record.{quote(name)}") for name in names})
    return fact(
        contract, content, ingested=merge.moment, moment=F.col("__moment"),
        gone=F.col("__gone"), position=F.col("__position"),
        priority=F.when(F.col("__absent"), ABSENCE).otherwise(RECORD), said=~F.col("__absent"),
        partial=F.lit(merge.partial),
        scopes=F.when(F.col("__absent"), F.col("__scopes")) if scoped else None,
    )  # fmt: skip


def _presence(own: DataFrame, merge: Merge) -> DataFrame:
    """A full extract says that a key is there, with the content of its newest record."""
    here = own.where(~F.col("__absent") & (F.col("__moment") <= merge.moment))
    newest = (F.col("__moment").desc(), F.col("__position").desc())
    here = order.first_of(here, merge.contract.keys, *newest)
    return fact(
        merge.contract, here, ingested=merge.moment, moment=merge.moment, gone=F.lit(False),
        priority=PRESENCE, position=F.col("__position"),
    )  # fmt: skip
