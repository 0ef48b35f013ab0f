"""The zones of Python's process and of Spark's session change no history."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from lakekit.batch import Batch
from lakekit.replay.merged_runs import MergedRun
from lakekit.spark.maintain_tables import measure
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.preview import preview_merge
from lakekit.spark.rebuild.rebuild import Scope, rebuild_table
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark.session.session import session_settings
from tests.spark.support.people import people
from tests.tiers import long

# Zones of the process and of the session, on both sides of UTC.
STORIES = {
    "extraction time": (
        people(deletes="mark"),
        ("Asia/Kolkata", "America/New_York"),
    ),
    "predicate": (
        people(
            columns={"city": "struct<since:timestamp>"},
            sequence_by="at",
            apply_as_deletes="hour(at) = 0 AND name = 'deleted'",
        ),
        ("America/New_York", "Asia/Kolkata"),
    ),
}


def person(number, name, day, town=1):
    event_time = f"2026-01-{day:02}T00:00:00Z"
    city = {"since": f"2026-01-01T00:00:00.00000{town}Z"}
    return {"id": number, "name": name, "city": city, "at": event_time}


class Story:
    """A table of a full extract, another one that lacks a key, and changes; one of them is late."""

    def __init__(self, spark, table, contract, folder):
        self.spark, self.table, self.contract = spark, table, contract
        self.staging, self.runs = (folder / "s").as_uri(), []
        self.folder = folder / table
        self.folder.mkdir()
        create_or_evolve(spark, self.contract, table)

    def batch(self, day, extract, *records):
        if not self.contract.history.sequence_by:
            records = [{**record, "city": record["at"]} for record in records]
        file = self.folder / f"{day}.ndjson"
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        extraction_time = datetime(2026, 1, day, 22, tzinfo=UTC)
        return Batch(
            run_id=f"r{day}", extract=extract, extraction_time=extraction_time, files=(str(file),)
        )

    def merge(self, day, extract, *records):
        batch = self.batch(day, extract, *records)
        self.runs.append(MergedRun(self.contract, batch))
        return merge_scd2(self.spark, self.contract, batch, self.table, staging=self.staging)

    def merge_all(self):
        """Merge everything, and return the preview of the last run, and all rows."""
        self.merge(2, "full", person(1, "ann", 1), person(2, "ben", 1), person(3, "cid", 2))
        self.merge(5, "full", person(1, "ann", 1, town=2), person(2, "ben", 4))
        late = [person(2, "eve", 3)] if self.contract.history.sequence_by else []
        last = self.batch(8, "changes", person(1, "deleted", 8), *late)
        run = (self.spark, self.contract, last, self.table)
        preview = preview_merge(*run, staging=self.staging)
        said = preview.result.model_dump(exclude={"table", "snapshot_id", "committed"})
        self.merge(8, "changes", person(1, "deleted", 8), *late)
        return said, self.rows()

    def repair(self):
        """Harm the table, and derive again what held from a time on."""
        harmed = "coalesce(_valid_to, _valid_from) > TIMESTAMP_NTZ '2026-01-05'"
        self.spark.sql(f"DELETE FROM {self.table} WHERE {harmed}")
        since = Scope(since=datetime(2026, 1, 5, 20, tzinfo=UTC))
        return rebuild_table(
            self.spark, self.contract, self.runs, self.table, staging=self.staging, scope=since
        )

    def rows(self):
        with session_settings(self.spark, {"spark.sql.session.timeZone": "UTC"}):
            stored = self.spark.table(self.table).drop("_source_file", "_line_hash", "_line_check")
            texts = stored.selectExpr(*[f"CAST({name} AS string)" for name in stored.columns])
            return sorted(str(row) for row in texts.collect())


@pytest.mark.long
@pytest.mark.parametrize("name", STORIES)
def test_the_zones_of_process_and_session_change_nothing(spark, table, tmp_path, zoned, name):
    contract, zones = STORIES[name]
    zoned("UTC", "UTC")
    said, rows = Story(spark, f"{table}_utc", contract, tmp_path).merge_all()
    # When the second extract lacked a key.
    assert any("2026-01-05 22:00:00" in row for row in rows)
    zoned(*zones)
    story = Story(spark, table, contract, tmp_path)

    assert story.merge_all() == (said, rows)
    assert story.repair().missing > 0
    assert story.rows() == rows
    assert spark.conf.get("spark.sql.session.timeZone") == zones[1]


@pytest.mark.long
@pytest.mark.parametrize("zones", [long(("UTC", "UTC")), *(zones for _, zones in STORIES.values())])
def test_snapshots_age_alike_in_every_zone(spark, table, tmp_path, zoned, zones):
    zoned(*zones)
    aging = people(maintenance={"snapshots": {"max_age_days": 5, "min_to_keep": 1}})
    story = Story(spark, table, aging, tmp_path)
    story.merge(1, "full", person(1, "ann", 1))
    story.merge(2, "full", person(1, "eve", 2))
    old = datetime.now(UTC) + timedelta(days=5)
    before, after = old - timedelta(hours=2), old + timedelta(hours=2)

    assert measure(spark, story.contract, table, now=before).expirable == 0
    found = measure(spark, story.contract, table, now=after)
    assert found.expirable == found.snapshots - 1 > 0
