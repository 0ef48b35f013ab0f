"""The zones of Python's process and of Spark's session change no history."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from lakekit.batch import Batch
from lakekit.contract.contract import load_contract
from lakekit.spark.maintain_tables import table_health
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.preview import preview_merge
from lakekit.spark.rebuild.rebuild import Run, Scope, rebuild_table
from lakekit.spark.run import Merge
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark.session.session import session_settings
from tests.spark.people import CONTRACT
from tests.tiers import long

BY_TIME = CONTRACT.replace("city, type: string", "city, type: 'struct<since:timestamp>'").replace(
    "history:", "  - {name: at, type: timestamp}\nhistory:"
)
# Neither the process nor the session is in UTC, and they are on both sides of it.
STORIES = {
    "extraction time": (
        CONTRACT.replace("keys: [id]", "keys: [id], deletes: mark"),
        ("Asia/Kolkata", "America/New_York"),
    ),
    "predicate": (
        BY_TIME.replace(
            "keys: [id]",
            "keys: [id], sequence_by: at, apply_as_deletes: \"hour(at) = 0 AND name = 'gone'\"",
        ),
        ("America/New_York", "Asia/Kolkata"),
    ),
}


def person(number, name, day, town=1):
    moment = f"2026-01-{day:02}T00:00:00Z"
    city = {"since": f"2026-01-01T00:00:00.00000{town}Z"}
    return {"id": number, "name": name, "city": city, "at": moment}


class Story:
    """A table of a full extract, one that lacks a key, and changes of which one is late."""

    def __init__(self, spark, table, text, folder):
        self.spark, self.table, self.contract = spark, table, load_contract(text)
        self.staging, self.runs = (folder / "s").as_uri(), []
        self.folder = folder / table
        self.folder.mkdir()
        create_or_evolve(spark, self.contract, table)

    def batch(self, day, extract, *records):
        if not self.contract.history.sequence_by:
            records = [{**record, "city": record["at"]} for record in records]
        file = self.folder / f"{day}.ndjson"
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        moment = datetime(2026, 1, day, 22, tzinfo=UTC)
        return Batch(run_id=f"r{day}", extract=extract, extraction_time=moment, files=(str(file),))

    def merge(self, day, extract, *records):
        batch = self.batch(day, extract, *records)
        self.runs.append(Run(self.contract, batch))
        return merge_scd2(self.spark, self.contract, batch, self.table, staging=self.staging)

    def tell(self):
        """Merge everything, and return what a preview of the last run said, and all rows."""
        self.merge(2, "full", person(1, "ann", 1), person(2, "ben", 1), person(3, "cid", 2))
        self.merge(5, "full", person(1, "ann", 1, town=2), person(2, "ben", 4))
        late = [person(2, "eve", 3)] if self.contract.history.sequence_by else []
        last = self.batch(8, "changes", person(1, "gone", 8), *late)
        merge = Merge(self.spark, self.contract, last, self.table, self.staging)
        counts = {"table", "snapshot_id", "committed"}
        said = preview_merge(merge).result.model_dump(exclude=counts)
        self.merge(8, "changes", person(1, "gone", 8), *late)
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


@pytest.mark.parametrize("name", [n if n == "predicate" else long(n) for n in STORIES])
def test_the_zones_of_process_and_session_change_nothing(spark, table, tmp_path, zoned, name):
    text, zones = STORIES[name]
    zoned("UTC", "UTC")
    said, rows = Story(spark, f"{table}_utc", text, tmp_path).tell()
    # When the second extract lacked a key.
    assert any("2026-01-05 22:00:00" in row for row in rows)
    zoned(*zones)
    story = Story(spark, table, text, tmp_path)

    assert story.tell() == (said, rows)
    assert story.repair().missing > 0
    assert story.rows() == rows
    assert spark.conf.get("spark.sql.session.timeZone") == zones[1]


@pytest.mark.parametrize("zones", [long(("UTC", "UTC")), *(zones for _, zones in STORIES.values())])
def test_snapshots_age_alike_in_every_zone(spark, table, tmp_path, zoned, zones):
    zoned(*zones)
    text = CONTRACT.replace(
        "history:", "maintenance: {snapshots: {max_age_days: 5, min_to_keep: 1}}\nhistory:"
    )
    story = Story(spark, table, text, tmp_path)
    story.merge(1, "full", person(1, "ann", 1))
    story.merge(2, "full", person(1, "eve", 2))
    old = datetime.now(UTC) + timedelta(days=5)
    before, after = old - timedelta(hours=2), old + timedelta(hours=2)

    assert table_health(spark, story.contract, table, now=before).expirable == 0
    found = table_health(spark, story.contract, table, now=after)
    assert found.expirable == found.snapshots - 1 > 0
