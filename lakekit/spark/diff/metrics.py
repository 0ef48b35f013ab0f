"""What is counted while a batch is read and resolved, without an action of its own."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from pyspark.sql import Column as Expression
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.diff import order
from lakekit.spark.diff.lateness import LATE
from lakekit.sql.identifiers import quote

ACTIONS = ("open", "overwrite", "assert", "delete", "tombstone")
_KINDS = ("same", "absent", "rejected", "ignored")


@dataclass(frozen=True)
class Counts:
    """The counters of one staged run; those of a stage that was skipped are 0.

    joined: rows of the join. kept: of them, rows that are not dropped as the same. records: records
    of the batch. null_keys: records with a null in their key. same, absent, rejected, ignored: rows
    of these kinds; see `compare.with_kind`. matched: records with a current row. absent_rows: kept
    rows without a record. ahead: records later than their extract. scopes: those of the records.
    current, undeleted: current versions, and those that do not say deleted.

    lost_equal, lost_other: records that another of their event time wins over, with equal and other
    content. rejected_late, late, late_absent: late rows that are rejected, late rows, and absences
    that a newer version contradicts. earliest: the first event time of a change.

    open, overwrite, assert_, delete, tombstone: records by their action; see `order`. absences:
    keys that an extract lacks and that end. deleted: deletions that end a current version. closes:
    current versions that end. short: new versions that end. short_deletions: deletions after which
    the key comes back. merged: records that open a version which began before. touched: keys.
    current_after: keys with a current version at the end. rewritten: current versions that are
    written again. ends: of `closes`, those that are not. outdone: overwrites of a version that
    ends.

    shown, shown_checks, shown_scopes, shown_newest: see `skip.lines.shown_counts`.
    """

    joined: int = 0
    kept: int = 0
    records: int = 0
    null_keys: int = 0
    same: int = 0
    absent: int = 0
    rejected: int = 0
    ignored: int = 0
    matched: int = 0
    absent_rows: int = 0
    ahead: int = 0
    scopes: tuple[str, ...] = ()
    current: int = 0
    undeleted: int = 0
    lost_equal: int = 0
    lost_other: int = 0
    rejected_late: int = 0
    late: int = 0
    late_absent: int = 0
    earliest: str | None = None
    open: int = 0
    overwrite: int = 0
    assert_: int = 0
    delete: int = 0
    tombstone: int = 0
    absences: int = 0
    deleted: int = 0
    closes: int = 0
    short: int = 0
    short_deletions: int = 0
    merged: int = 0
    touched: int = 0
    current_after: int = 0
    rewritten: int = 0
    ends: int = 0
    outdone: int = 0
    shown: int = 0
    shown_checks: int = 0
    shown_scopes: tuple[str, ...] = ()
    shown_newest: str | None = None

    @classmethod
    def of(cls, counted: Mapping[str, Any]) -> Self:
        """Return counters by the names that the expressions below give; null is 0."""
        return cls().updated(counted)

    def updated(self, counted: Mapping[str, Any]) -> Self:
        """Return the counters with others in the place of those of their names."""
        names = {field.name for field in fields(self)}
        given = {name: n for name, n in counted.items() if name in names and n is not None}
        for name in ("scopes", "shown_scopes"):
            if isinstance(given.get(name), str):
                given[name] = tuple(sorted(json.loads(given[name])))
        return replace(self, **given)

    def with_same(self) -> Self:
        """Add the rows that were dropped after the join: each repeats a current row."""
        return self._with_matched(self.joined - self.kept)

    def with_skipped(self, lines: int) -> Self:
        """Add the lines that were skipped before they were parsed, with their scopes."""
        scopes = tuple(sorted({*self.scopes, *self.shown_scopes}))
        return replace(self._with_matched(lines), scopes=scopes)

    def _with_matched(self, n: int) -> Self:
        return replace(self, same=self.same + n, matched=self.matched + n, records=self.records + n)


def joined_counts(contract: Contract, extracted: Expression) -> list[Expression]:
    """Return what is counted of all joined rows: little, as nearly all repeat a current row."""
    counts = [F.expr("count(1) AS joined")]
    if contract.history.sequence_by:
        counts.append(F.count(F.when(F.col("__event_time") > extracted, 1)).alias("ahead"))
    if contract.history.delete_scope:
        read = "if(NOT __absent AND __fault IS NULL, __scope, NULL)"
        counts.append(F.expr(f"to_json(collect_set({read})) AS scopes"))
    return counts


def current_counts() -> list[Expression]:
    """Return what is counted of the versions that records are compared with."""
    return [F.expr("count(1) AS current"), F.expr("count(__current_hash) AS undeleted")]


def kind_counts(contract: Contract) -> list[Expression]:
    """Return what is counted of the joined rows that are kept."""
    return [
        F.expr("count(1) AS kept"),
        _count("records", "NOT __absent"),
        null_keys(contract),
        *[_count(kind, f"__kind = '{kind}'") for kind in _KINDS],
        _count("matched", "__known AND NOT __absent"),
        _count("absent_rows", "__absent"),
    ]


def null_keys(contract: Contract) -> Expression:
    """Return how many records have a null in their key."""
    return _count("null_keys", f"({has_null_key(contract)}) AND __fault IS NOT NULL")


def has_null_key(contract: Contract) -> str:
    """Return in SQL whether the key of a record has a null."""
    return " OR ".join(f"{quote(key)} IS NULL" for key in contract.keys) or "false"


def rank_counts() -> list[Expression]:
    """Return what is counted of ranked rows."""
    lost = "__rank > 1 AND __reject_reason IS NULL"
    first = "if(__rank = 1 AND __kind != 'same', __event_time, NULL)"
    return [
        _count("lost_equal", f"{lost} AND __equal"),
        _count("lost_other", f"{lost} AND NOT __equal"),
        _count("rejected_late", f"__reject_reason = '{LATE}'"),
        *late_counts("__rank = 1"),
        F.expr(f"CAST(min({first}) AS string) AS earliest"),
    ]


def late_counts(ranked: str) -> list[Expression]:
    """Return what is counted of late rows, of those that count at their event time.

    `ranked` says in SQL which do.
    """
    late = f"{ranked} AND __late"
    # The current version shows a change after the extract: it stays. So it does where late changes
    # are rejected.
    stays = "__kind = 'absent' AND (__newest > __event_time OR __reject_reason IS NOT NULL)"
    return [
        _count("late", f"{late} AND __reject_reason IS NULL"),
        _count("late_absent", f"{late} AND {stays}"),
    ]


def action_counts() -> list[Expression]:
    """Return what is counted of resolved rows, without the rejected ones."""
    opened, known = "__action = 'open'", "__current_from IS NOT NULL"
    counted = {
        **{_field(name): f"__action = '{name}' AND NOT __absent" for name in ACTIONS},
        "absences": "__action = 'delete' AND __absent",
        "deleted": f"__action = 'delete' AND __event_time = __close_at AND {known}",
        "closes": order.CLOSES,
        "short": f"{opened} AND __valid_to IS NOT NULL",
        "short_deletions": "__action = 'delete' AND __valid_to IS NOT NULL",
        "merged": f"{opened} AND __event_time != __valid_from",
        "touched": "__first",
        "current_after": "__first AND __current_after",
        "rewritten": "__first AND __rewritten",
        "ends": f"{order.CLOSES} AND NOT __rewritten",
        "outdone": "__action = 'overwrite' AND __valid_to IS NOT NULL",
    }
    return [_count(name, f"__reject_reason IS NULL AND {where}") for name, where in counted.items()]


def _field(action: str) -> str:
    return "assert_" if action == "assert" else action


def _count(name: str, where: str) -> Expression:
    """Return how many rows a predicate of SQL is true for; a text takes one call of Java."""
    return F.expr(f"count_if({where}) AS {quote(name)}")
