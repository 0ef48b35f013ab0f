"""What sessions are told."""

from pyspark.sql import SparkSession

from lakekit.spark_conf import SETTINGS


def test_a_session_of_its_own_has_every_setting(spark: SparkSession) -> None:
    own = spark.newSession()
    assert {key: own.conf.get(key) for key in SETTINGS} == SETTINGS
