"""ClaimLandings: take the tables that are free, and of each its oldest pending landings.

The landings of a table that another run holds are left to that run: it looks at the index after it
has given the table back. Those of a table whose merges keep failing wait for the time of the next
try, unless a person or a schedule started the run. Where the order counts, those behind a landing
that another run is still extracting wait for it.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.errors import InvalidStepInputError, TableBusyError
from lakekit.landing.index import BLOCKED, PENDING, is_indexed, oldest, tables_with
from lakekit.ports import Flow, ObjectNotFoundError, ObjectStore, TableLeases
from lakekit.runs.documents import Claim, ClaimedTable, Run, read_claim, read_run, write_once
from lakekit.runs.next_run import PATIENT, backs_off
from lakekit.runs.superseded import keeps_order
from lakekit.runs.validate_landing import is_decided
from lakekit.steps.functions import ClaimLandings, ClaimLandingsResult

# How many landings one run takes; what is left goes to the next.
MAX_LANDINGS = 1000


def claim_landings(step: ClaimLandings, flow: Flow) -> ClaimLandingsResult:
    """Claim landings under leases; again, it returns the same result.

    Raises:
        InvalidStepInputError: The run had given its tables back before.
    """
    claim = read_claim(flow.store, step.run_id)
    if claim is None:
        claiming = _Claiming(read_run(flow.store, step.run_id), flow)
        made = claiming.claim()
        write_once(flow.store, layout.claim_key(step.run_id), made)
        claim = read_claim(flow.store, step.run_id) or made
        _release_others(claiming.taken, claim, flow.leases)
    _hold(claim, flow.leases)
    return ClaimLandingsResult(shares=tuple(range(claim.shares)), deferred=len(claim.deferred))


class _Claiming:
    def __init__(self, run: Run, flow: Flow) -> None:
        self._run, self._flow = run, flow
        # Also tables with nothing to claim: another attempt may have claimed them meanwhile.
        self.taken: list[str] = []
        self._deferred: list[str] = []
        self._waiting: list[str] = []

    def claim(self) -> Claim:
        source = self._run.source.source
        contracts = {each.contract: each for each in self._run.contracts}
        names = [
            each for each in tables_with(self._flow.store, PENDING, source) if each in contracts
        ]
        limit = max(1, MAX_LANDINGS // max(1, len(names)))
        tables = [
            found for name in names if (found := self._table(contracts[name], limit)) is not None
        ]
        return Claim(
            run_id=self._run.run_id,
            # Only now: what others committed before is older.
            leased_at=self._flow.clock(),
            tables=tuple(tables),
            deferred=tuple(self._deferred),
            waiting=tuple(self._waiting),
        )

    def _table(self, contract: Contract, limit: int) -> ClaimedTable | None:
        name, source = contract.contract, contract.source
        if self._must_wait(contract):
            self._waiting.append(name)
            return None
        try:
            lease = self._flow.leases.acquire(name, self._run.run_id)
        except TableBusyError:
            self._deferred.append(name)
            return None
        self.taken.append(name)
        # Before the listing: what is indexed meanwhile is in it.
        edge = min(self._coming(contract), default=None) if keeps_order(contract) else None
        # Under the lease, so that no two runs claim the same landing.
        found = oldest(self._flow.store, PENDING, source, name, limit=limit)
        manifests = tuple(each for each in found if edge is None or each < edge)
        if not manifests:
            return None
        return ClaimedTable(table=name, epoch=lease.epoch, manifests=manifests)

    def _coming(self, contract: Contract) -> Iterator[str]:
        """Yield the landings that other runs are extracting.

        Such a run takes what waits for its landing when it is through.
        """
        store, prefix = self._flow.store, layout.index_prefix("open", contract.source)
        for info in store.list(prefix):
            run_id = info.key.removeprefix(prefix)
            if info.size == 0 or run_id == self._run.run_id:
                continue
            with suppress(ObjectNotFoundError):  # it has ended meanwhile
                time = _landing_time(store, info.key, run_id)
                folder = layout.raw_prefix(contract.source, contract.contract, time)
                if self._may_land(run_id, contract, layout.manifest_key(folder)):
                    yield layout.manifest_key(folder)

    def _may_land(self, run_id: str, contract: Contract, manifest: str) -> bool:
        store = self._flow.store
        if is_indexed(store, manifest) or is_decided(store, manifest):
            return False
        failed = store.head(layout.failure_key(run_id, contract.contract))
        return failed is None and self._flow.executions.is_running(run_id)

    def _must_wait(self, contract: Contract) -> bool:
        name, source = contract.contract, contract.source
        if self._run.origin in PATIENT and backs_off(
            self._flow.store, source, name, self._flow.clock()
        ):
            return True
        blocked = oldest(self._flow.store, BLOCKED, source, name, limit=1)
        return keeps_order(contract) and any(blocked)


def _landing_time(store: ObjectStore, entry: str, run_id: str) -> datetime:
    """Return the time of what a run will land: of its entry, else of its document."""
    try:
        return datetime.fromisoformat(store.get(entry).decode())
    except ValueError:
        return read_run(store, run_id).extraction_time


def _release_others(taken: Iterable[str], kept: Claim, leases: TableLeases) -> None:
    """Give back what an attempt took and the run has not claimed, by this attempt or another."""
    for table in sorted({*taken} - {each.table for each in kept.tables}):
        leases.release(table, kept.run_id)


def _hold(claim: Claim, leases: TableLeases) -> None:
    """Make sure that the run has held its tables since it claimed their landings."""
    for each in claim.tables:
        if leases.acquire(each.table, claim.run_id).epoch != each.epoch:
            # Others may have merged since, and the claim would order it before them.
            raise InvalidStepInputError(
                f"run {claim.run_id} has let its tables go since it began; start with a new name, "
                "and never redrive an execution"
            )
