"""Rows of a Parquet file as lines: each the JSON text of its values, exactly. No actions.

A null is no field. A time has its microseconds, a decimal its digits, bytes are base64. RouteFile
has refused types that are not kept so.
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from lakekit.sql.identifiers import quote

PARQUET = ".parquet"
_AS_WRITTEN = {"datetimeRebaseMode": "CORRECTED", "int96RebaseMode": "CORRECTED"}
_EXACT = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "timeZone": "UTC",
}


def row_texts(spark: SparkSession, address: str) -> DataFrame:
    """Return the rows of a Parquet file, as `__raw`.

    A row with a text that is not UTF-8 is a list, so that it is no record.
    """
    frame = spark.read.options(**_AS_WRITTEN).parquet(address)
    texts = [field.name for field in frame.schema if isinstance(field.dataType, StringType)]
    text = F.to_json(F.struct(*[F.col(quote(name)) for name in frame.columns]), _EXACT)
    broken = F.lit(False)
    for name in texts:
        value = F.col(quote(name))
        broken |= F.coalesce(F.decode(value.cast("binary"), "UTF-8") != value, F.lit(False))
    return frame.select(
        F.when(broken, F.concat(F.lit("["), text, F.lit("]"))).otherwise(text).alias("__raw")
    )
