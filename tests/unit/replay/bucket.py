"""The landing bucket of one table, with the runs that planned and merged its landings."""

from datetime import timedelta
from typing import Any

from lakekit import layout
from lakekit.batch import Batch, MergeResult
from lakekit.contract.contract import Contract
from lakekit.landing.writer import load_manifest
from lakekit.replay.merged_runs import CommittedRun, TableRuns, merged_runs
from lakekit.runs.documents import (
    Claim,
    ClaimedTable,
    Plan,
    Superseded,
    SupersededLandings,
    TablePlan,
    write_once,
)
from lakekit.runs.plan_tables import batch_of
from lakekit.steps.jobs import MergeScd2Result
from tests.fakes import MemoryObjectStore
from tests.unit.runs.kit import NOON, begun, contract, landed

OLD, NEW = contract(), contract(version=2)


class Bucket:
    """A landing bucket with runs of the table `orders`."""

    def __init__(self, store: Any = None) -> None:
        self.store = store or MemoryObjectStore()

    def land(self, batch: str, hour: int) -> Batch:
        """Land one record; the landing has the batch's name."""
        key = landed(self.store, {"id": hour, "price": 1.0}, hour=hour, run_id=batch)
        return batch_of(self.store, load_manifest(self.store, key))

    def run(
        self,
        run_id: str,
        *batches: Batch,
        epoch: int,
        at: int = 0,
        leased: int | None = None,
        contract: Contract = OLD,
    ) -> None:
        """Plan landings in one run, which began and got its lease some minutes after noon."""
        start = NOON + timedelta(minutes=at)
        lease = start if leased is None else NOON + timedelta(minutes=leased)
        begun(self.store, contract, run_id=run_id, started_at=start)
        taken = ClaimedTable(table="orders", epoch=epoch, manifests=())
        claim = Claim(run_id=run_id, leased_at=lease, tables=(taken,))
        self.store.put(layout.claim_key(run_id), claim.to_json())
        self.store.put(layout.table_run_key("shop", "orders", epoch, run_id), b"")
        plan = TablePlan(table="orders", contract=contract, create=False, batches=batches)
        write_once(self.store, layout.plan_key(run_id), Plan(run_id=run_id, tables=(plan,)))

    def record(self, run_id: str, *merges: MergeResult) -> None:
        document = MergeScd2Result(table="orders", merges=merges)
        self.store.put(layout.result_key(run_id, "merge_scd2", "orders"), document.to_json())

    def complete(self, *batches: Batch, marker: str = ".complete") -> None:
        for batch in batches:
            prefix = layout.raw_prefix("shop", "orders", batch.extraction_time)
            self.store.put(f"{prefix}{marker}", b"r")

    def load(self, run_id: str, hour: int, *, epoch: int, committed: bool = True) -> Batch:
        """Land, plan, merge and complete a landing in a run of the same name."""
        batch = self.land(run_id, hour)
        self.run(run_id, batch, epoch=epoch)
        self.record(run_id, result(run_id, 1 if committed else None))
        self.complete(batch)
        return batch

    def merged(self, *shown: CommittedRun | str, **more: Any) -> list[str]:
        runs = self.collect(*shown, **more)
        return [batch.run_id for _, batch in runs]

    def collect(self, *shown: CommittedRun | str, **more: Any) -> list[tuple[Contract, Batch]]:
        runs = [each if isinstance(each, CommittedRun) else CommittedRun(each) for each in shown]
        found = merged_runs(self.store, "shop", "orders", TableRuns(runs, **more))
        return [(each.contract, each.batch) for each in found]

    def note(self, run_id: str, late: Batch) -> None:
        """Leave a landing out because a newer one superseded it."""
        manifest = layout.manifest_key(layout.raw_prefix("shop", "orders", late.extraction_time))
        landings = (Superseded(manifest=manifest, by="newer"),)
        key = layout.result_key(run_id, "plan_tables", "orders")
        self.store.put(key, SupersededLandings(table="orders", landings=landings).to_json())


def result(batch: str, snapshot: int | None = None, *, committed: bool = True) -> MergeResult:
    return MergeResult(
        table="lake.db.orders", run_id=batch, snapshot_id=snapshot,
        committed=committed and snapshot is not None,
    )  # fmt: skip
