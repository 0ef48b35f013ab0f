"""Which facts of a key count, judged one after the other in the order of their moments."""

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.spark.fact import RECORD
from lakekit.spark.fold import Step, folded
from lakekit.sql.identifiers import quote

_HELD = "struct<alive:boolean,scope:{scope},hash:bigint,rest:bigint>"
_JUDGED = "struct<heard:boolean,held:{held}>"


def with_verdicts(placed: DataFrame, contract: Contract) -> DataFrame:
    """Add whether each fact counts (`__heard`), and what its key holds before it (`__held`).

    A record always counts; presence only if the key is gone; absence only if the key is there,
    with a content that is within the scopes of the extract; nothing that is not first at its
    moment (`__place`).

    Args:
        placed: Facts, one first among those of a key and moment.
        contract: Its keys and scopes.
    """
    held = _HELD.format(scope=_scope_type(contract))
    judged = folded(
        placed, contract.keys, _nothing(held), _JUDGED.format(held=held), _judge(contract, held),
        __scope=_scope(contract),
    )  # fmt: skip
    told = {f"__{name}": F.col(f"__told_of.{name}") for name in ("heard", "held")}
    return judged.withColumns(told).drop("__told_of")


def _scope(contract: Contract) -> Expression:
    names = contract.history.delete_scope
    return F.struct(*map(quote, names)) if names else F.lit(None).cast("string")


def _scope_type(contract: Contract) -> str:
    fields = [f"{quote(n)}:{contract.column(n).type}" for n in contract.history.delete_scope]
    return f"struct<{','.join(fields)}>" if fields else "string"


def _nothing(held: str) -> Expression:
    return F.struct(F.lit(False), *[F.lit(None)] * 3).cast(held)


def _judge(contract: Contract, state: str) -> Step:
    """Return the step from what a key holds before a fact to what it holds after it."""
    scope = contract.history.delete_scope

    def judge(held: Expression, fact: Expression) -> tuple[Expression, Expression]:
        gone = fact["__gone"]
        within, at = F.lit(True), fact["__scope"]
        if scope:
            text = F.to_json(held["scope"], {"ignoreNullFields": "false"})
            within = fact["__scopes"].isNull() | F.array_contains(fact["__scopes"], text)
            filled = [F.coalesce(at[name], held["scope"][name]).alias(name) for name in scope]
            at = F.when(fact["__partial"] & held["alive"], F.struct(*filled)).otherwise(at)
        changes = F.when(gone, held["alive"] & within).otherwise(~held["alive"])
        heard = (fact["__place"] == 1) & ((fact["__priority"] == RECORD) | changes)
        alive = F.struct(F.lit(True), at, fact["_row_hash"], fact["__rest"]).cast(state)
        after = F.when(~heard, held).when(gone, _nothing(state)).otherwise(alive)
        judged = F.struct(heard, held).cast(_JUDGED.format(held=state))
        return after, judged

    return judge
