"""A table of some runs that are landed, to be derived again."""

from datetime import UTC, datetime
from pathlib import Path

from lakekit.batch import Batch
from lakekit.contract.contract import Contract
from lakekit.replay.merged_runs import MergedRun
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.rebuild.rebuild import Scope, rebuild_table
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.tables import ARRIVAL
from tests.spark.support.landed import land
from tests.spark.support.people import TIMED, people

NEW = people(sequence_by="at", columns={"tags": "map<string,int>"})


class World:
    """A table of three runs: Ann changes, later also late, Cid is deleted, the contract grows."""

    def __init__(self, spark, table: str, folder: Path) -> None:
        self.spark, self.table, self.folder = spark, table, folder
        self.staging = (folder / "s").as_uri()
        self.runs: list[MergedRun] = []

    def merge(
        self,
        day: int,
        *records: dict,
        contract: Contract = TIMED,
        extract: str = "full",
        run_id: str = "",
    ) -> None:
        run_id = run_id or f"run-{day}"
        file = land(self.folder / f"{run_id}.ndjson", records)
        extraction_time = datetime(2026, 1, day, tzinfo=UTC)
        batch = Batch(
            run_id=run_id, extract=extract, extraction_time=extraction_time, files=(file,)
        )
        run = MergedRun(contract, batch)
        create_or_evolve(self.spark, run.contract, self.table)
        merge_scd2(self.spark, run.contract, batch, self.table, staging=self.staging)
        self.runs.append(run)

    def rows(self, table: str = "") -> list[str]:
        """Return all rows.

        Not the digests of lines, which a rebuild leaves to the next full extract, nor the arrival
        numbers, which are lower after a rebuild.
        """
        frame = self.spark.table(table or self.table).drop(*DIGEST, ARRIVAL)
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
