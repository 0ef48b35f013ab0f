"""A table of some runs that are landed, to be derived again."""

from datetime import UTC, datetime
from pathlib import Path

from lakekit.batch import Batch
from lakekit.contract.contract import load_contract
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.rebuild.rebuild import Run, Scope, rebuild_table
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.tables import ARRIVED
from tests.spark.landed import land
from tests.spark.people import TIMED_TEXT

NEW = TIMED_TEXT.replace("history:", "  - {name: tags, type: 'map<string,int>'}\nhistory:", 1)


class World:
    """A table of three runs: Ann changes, then late too, Cid is gone, the contract grows."""

    def __init__(self, spark, table: str, folder: Path) -> None:
        self.spark, self.table, self.folder = spark, table, folder
        self.staging = (folder / "s").as_uri()
        self.runs: list[Run] = []

    def merge(
        self,
        day: int,
        *records: dict,
        text: str = TIMED_TEXT,
        extract: str = "full",
        run_id: str = "",
    ) -> None:
        run_id = run_id or f"run-{day}"
        file = land(self.folder / f"{run_id}.ndjson", records)
        moment = datetime(2026, 1, day, tzinfo=UTC)
        batch = Batch(run_id=run_id, extract=extract, extraction_time=moment, files=(file,))
        run = Run(load_contract(text), batch)
        create_or_evolve(self.spark, run.contract, self.table)
        merge_scd2(self.spark, run.contract, batch, self.table, staging=self.staging)
        self.runs.append(run)

    def rows(self, table: str = "") -> list[str]:
        """Return all rows.

        Which lines they show a rebuild leaves to the next full extract; that its facts arrived
        before all others it tells by lower numbers.
        """
        frame = self.spark.table(table or self.table).drop(*DIGEST, ARRIVED)
        return sorted(str(row) for row in frame.collect())

    def snapshots(self) -> int:
        return self.spark.sql(f"SELECT * FROM {self.table}.snapshots").count()

    def rebuild(self, **scope):
        return rebuild_table(
            self.spark, self.runs[-1].contract, self.runs, self.table,
            staging=self.staging, scope=Scope(**scope),
        )  # fmt: skip

    def damage(self, *statements: str) -> None:
        for statement in statements:
            self.spark.sql(statement.format(t=self.table))


def person(number: int, name: str, day: int, **more) -> dict:
    return {"id": number, "name": name, "at": f"2026-01-{day:02}T00:00:00Z", **more}


def shadows(world: World) -> list[str]:
    listed = world.spark.sql("SHOW TABLES IN lake.local").collect()
    return [row["tableName"] for row in listed if "__rebuild" in row["tableName"]]
