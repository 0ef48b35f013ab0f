"""Published bugs of maintenance: one table after all of it.

Three runs, a key that a person deletes, compaction and manifests, then expiry and orphans.
"""

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pyspark
import pytest

from lakekit.batch import Batch
from lakekit.spark.maintain_tables import maintain_table
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.query import changes_between
from lakekit.spark.session.jars import PACKAGES, S3_PACKAGES, class_path
from tests.spark.support.people import ANN, BEN, people
from tests.spark.support.seams import tune

# Manifests so small that files of two partitions need not share one.
EAGER = people(
    table={"properties": {"commit.manifest.target-size-bytes": "4000"}},
    maintenance={"small_files_threshold": 3, "snapshots": {"max_age_days": 1, "min_to_keep": 1}},
)
NOW = datetime.now(UTC)


class Worked(NamedTuple):
    """The table, its snapshots and their manifests before expiry, how expiry was cut into tasks."""

    table: str
    snapshots: list[Any]
    manifests: list[Any]
    tasks: list[int]


@pytest.fixture(scope="module")
def worked(spark, tmp_path_factory) -> Worked:
    folder, table = tmp_path_factory.mktemp("landing"), "lake.local.worked"
    with pytest.MonkeyPatch.context() as patch:
        tune(patch, few_bytes=-1, many_manifests=3)
        for day, city in enumerate(("Oslo", "Rome", "Lima"), 1):
            file = folder / f"{day}.ndjson"
            records = ({**ANN, "city": city}, BEN, {"id": 3, "name": "Cid"})
            file.write_text("".join(f"{json.dumps(record)}\n" for record in records))
            batch = Batch(
                run_id=f"run-{day}",
                extract="full",
                extraction_time=datetime(2026, 1, day, tzinfo=UTC),
                files=(str(file),),
            )
            merge_scd2(spark, EAGER, batch, table, staging=(folder / "s").as_uri())
        spark.sql(f"DELETE FROM {table} WHERE id = 3")
        maintain_table(spark, EAGER, table, now=NOW)
        snapshots = spark.table(f"{table}.snapshots").collect()
        manifests = spark.table(f"{table}.all_manifests").collect()
        maintain_table(spark, EAGER, table, now=NOW + timedelta(days=2))
    return Worked(table, snapshots, manifests, tasks_of_newest(spark, "EXPIRE-SNAPSHOTS"))


def tasks_of_newest(spark, action: str) -> list[int]:
    """Return the number of tasks of each stage of the newest action of a kind."""
    jobs = spark._jsc.sc().statusStore().jobsList(None)
    grouped = [job for job in map(jobs.apply, range(jobs.size())) if job.jobGroup().isDefined()]
    groups = {job.jobId(): job.jobGroup().get() for job in grouped}
    newest = groups[max(number for number, group in groups.items() if group.startswith(action))]
    stages = [
        job.stageIds().apply(number)
        for job in grouped
        for number in range(job.stageIds().size())
        if groups[job.jobId()] == newest
    ]
    return [spark.sparkContext.statusTracker().getStageInfo(each).numTasks for each in stages]


def spans(manifests: list[Any]) -> list[tuple[str, str]]:
    """Return the lowest and the highest `_is_current` of each manifest of data files."""
    summaries = [row["partition_summaries"][0] for row in manifests if row["content"] == 0]
    return sorted((each["lower_bound"], each["upper_bound"]) for each in summaries)


def test_compaction_of_several_partitions_is_one_commit(worked):
    """iceberg #9521: parts of a compaction that are committed one by one stop each other."""
    replaced = [row["summary"] for row in worked.snapshots if row["operation"] == "replace"]
    compacted = [each for each in replaced if "deleted-data-files" in each]

    assert [each["changed-partition-count"] for each in compacted] == ["2"]


def test_a_manifest_is_of_one_value_of_the_field_that_merges_ask_for(worked, spark):
    """iceberg #9615, #15467: manifests are not in the order of the field that queries name."""
    assert ("false", "true") in spans(worked.manifests)

    left = spark.table(f"{worked.table}.manifests").collect()
    assert spans(left) == [("false", "false"), ("true", "true")]


def test_expiry_after_all_was_rewritten_has_no_task_for_each_manifest(worked, spark):
    """iceberg #11017: it takes more than 50 executors, which a cluster adds for waiting tasks."""
    most = int(spark.conf.get("spark.sql.shuffle.partitions")) + len(worked.snapshots)

    assert 0 < max(worked.tasks) <= most < len(worked.manifests)


def test_what_is_deleted_by_hand_is_in_no_file_after_compaction_and_expiry(worked, spark):
    """Until then a reader of an earlier snapshot sees it."""
    known = spark.sql(f"SELECT file_path FROM {worked.table}.files").first()["file_path"]
    files = map(str, Path(known.removeprefix("file:")).parents[1].rglob("*.parquet"))

    # Lists of deleted rows have no ids.
    held = spark.read.schema("id int").parquet(*files).where("id IS NOT NULL").collect()

    assert sorted(row["id"] for row in held) == [1, 1, 1, 2]


@pytest.mark.long
def test_who_reads_by_time_goes_on_though_the_snapshots_between_have_expired(worked, spark):
    """iceberg #9504: a reader that stopped at a snapshot cannot go on without it."""
    days = [datetime(2025, 12, 31, tzinfo=UTC), *(datetime(2026, 1, n, tzinfo=UTC) for n in (2, 3))]

    found = [changes_between(spark, worked.table, *each).collect() for each in pairwise(days)]

    assert spark.table(f"{worked.table}.snapshots").count() == 1
    assert [[(row["_change"], row["city"]) for row in each] for each in found] == [
        [("inserted", "Oslo"), ("inserted", "Bonn"), ("updated", "Rome")],
        [("updated", "Lima")],
    ]


def test_iceberg_reads_the_setting_by_which_glue_keeps_no_version_of_each_commit(spark):
    """iceberg #5965, iceberg-python #140: their number has a limit."""
    java, array = spark._jvm.java, spark.sparkContext._gateway.new_array
    kinds, values = array(java.lang.Class, 1), array(java.lang.Object, 1)
    kinds[0], values[0] = java.lang.Class.forName("java.util.Map"), java.util.HashMap()
    properties = class_of_aws(spark, "AwsProperties").getConstructor(kinds)

    def keeps_none(value):
        values[0].put("glue.skip-archive", value)
        return properties.newInstance(values).glueCatalogSkipArchive()

    assert [keeps_none("true"), keeps_none("false")] == [True, False]


def class_of_aws(spark, name: str) -> Any:
    """Load a class of Iceberg with the jars for AWS, which the session does not have."""
    java = spark._jvm.java
    slf4j = map(str, Path(pyspark.__file__).parent.glob("jars/slf4j-api-*.jar"))
    jars = [*class_path(PACKAGES[:1] + S3_PACKAGES[:1]).split(":"), *slf4j]
    urls = spark.sparkContext._gateway.new_array(java.net.URL, len(jars))
    for number, jar in enumerate(jars):
        urls[number] = java.net.URL(Path(jar).as_uri())
    platform = java.lang.ClassLoader.getPlatformClassLoader()
    return java.net.URLClassLoader(urls, platform).loadClass(f"org.apache.iceberg.aws.{name}")
