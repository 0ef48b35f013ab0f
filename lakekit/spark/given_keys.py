"""Natural keys in a file, of which alone a table is rebuilt."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.errors import InvalidStepInputError
from lakekit.sql.identifiers import quote


def read_keys(spark: SparkSession, contract: Contract, file: str) -> DataFrame:
    """Read natural keys, one JSON object per line.

    Raises:
        InvalidStepInputError: A key lacks a column or does not parse, or the table has no keys.
    """
    if not contract.keys:
        raise InvalidStepInputError(f"{contract.contract}: has no keys; rebuild all of it")
    fields = ", ".join(f"{quote(key)} {contract.column(key).type}" for key in contract.keys)
    options = {"mode": "PERMISSIVE", "timeZone": "UTC"}
    keys = spark.read.schema(fields).options(**options).json(file).distinct()
    bad = F.lit(False)
    for key in contract.keys:
        bad = bad | F.col(quote(key)).isNull()
    if not keys.take(1) or keys.where(bad).take(1):
        raise InvalidStepInputError(
            f"{file}: each line must be a JSON object with {', '.join(contract.keys)}"
        )
    return keys
