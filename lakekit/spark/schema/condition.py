"""The condition of a contract, `apply_as_deletes`, as Spark understands it."""

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.errors import InvalidContractError
from lakekit.spark.schema.conform import no_rows


def deletes(records: DataFrame, contract: Contract) -> Expression:
    """Return whether a record deletes its key, never null.

    Args:
        records: With the columns of the contract's schema.
        contract: It has a condition.

    Raises:
        InvalidContractError: The condition is none on these columns. `lakekit check` has the same
            rule, but knows fewer functions than Spark.
    """
    try:
        condition = F.expr(contract.history.apply_as_deletes or "")
        # With the columns, so that an aggregate is refused.
        kind = records.select("*", condition.alias("__deleted")).schema["__deleted"].dataType
    except (PySparkException, Py4JJavaError) as error:
        lines = str(error).splitlines()
        why = next((line.strip() for line in lines if line.strip()), "Spark refuses it")
        raise _refused(contract, why) from error
    if kind.typeName() != "boolean":
        raise _refused(contract, f"it is {kind.simpleString()}, not boolean")
    return F.coalesce(condition, F.lit(False))


def refuse_condition(spark: SparkSession, contract: Contract) -> None:
    """Check the condition of a contract before anything is made by it.

    Raises:
        InvalidContractError: It is none.
    """
    if contract.history.apply_as_deletes is not None:
        deletes(no_rows(spark, {c.name: c.type for c in contract.columns}), contract)


def _refused(contract: Contract, why: str) -> InvalidContractError:
    return InvalidContractError(f"{contract.contract}: history.apply_as_deletes: {why}")
