"""What the steps that move a run along have at hand."""

from dataclasses import dataclass

from lakekit.ports import Clock, Executions, ObjectStore, TableLeases


@dataclass(frozen=True)
class Flow:
    """The landing bucket, who holds which table, the runs of `load_source`, and the time."""

    store: ObjectStore
    leases: TableLeases
    executions: Executions
    clock: Clock
