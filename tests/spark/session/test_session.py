"""Settings of sessions."""

import stat
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakekit.spark_conf import SETTINGS
from lakekit.sql.identifiers import literal


def test_a_session_of_its_own_has_every_setting(spark: SparkSession) -> None:
    own = spark.newSession()
    assert {key: own.conf.get(key) for key in SETTINGS} == SETTINGS


def test_a_text_with_a_dollar_sign_stays_as_it_is_written(spark: SparkSession) -> None:
    texts = ["${x}", "${env:HOME}", "${system:user.dir}", "${spark.app.name}", "a${b}c", "$${x}"]
    for session in (spark, spark.newSession()):
        values = ", ".join(map(literal, texts))
        row = session.sql(f"SELECT {values}, struct(1 AS `{texts[0]}`)").first()
        assert row is not None
        assert list(row)[:-1] == texts
        assert row[-1].asDict() == {"${x}": 1}
        frame = session.range(1).select(F.expr(literal(texts[1])))
        assert frame.first() == (texts[1],)


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux about Java's processes")
def test_no_process_is_started_for_a_file(spark: SparkSession, tmp_path: Path) -> None:
    # Hadoop's own file system starts a `chmod` for each file and folder that it makes.
    java = spark._jvm.java.lang.ProcessHandle.current().pid()
    before = faults_of_children(java)
    spark.range(3).coalesce(1).write.parquet(f"{tmp_path}/rows")
    assert faults_of_children(java) == before
    (file,) = (tmp_path / "rows").glob("*.parquet")
    # Hadoop's mode, whatever the process's own mask is.
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_iceberg_waits_for_no_threads_to_plan_a_scan(spark: SparkSession) -> None:
    asked = spark._jvm.org.apache.iceberg.SystemConfigs.SCAN_THREAD_POOL_ENABLED
    assert not asked.value()


def faults_of_children(process: int) -> int:
    """Count the page faults of ended child processes; each process has some."""
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
    return int(after_name.split()[8])
