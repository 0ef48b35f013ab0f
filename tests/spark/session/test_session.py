"""Settings of sessions."""

import stat
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakekit.spark_conf import SETTINGS


def test_a_session_of_its_own_has_every_setting(spark: SparkSession) -> None:
    own = spark.newSession()
    assert {key: own.conf.get(key) for key in SETTINGS} == SETTINGS


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
