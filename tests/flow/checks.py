"""What must hold of every schedule once it is quiet."""

from collections import Counter
from collections.abc import Iterator

from lakekit import layout
from lakekit.aws.lease import Lease
from lakekit.landing.writer import load_manifest
from tests.flow.lake import CONTRACTS
from tests.flow.story import Story

MOST_STATE = 32 * 1024
MOST_CALLS_OF_START_RUN = 20


def faults(story: Story) -> list[str]:
    """Return what does not hold."""
    return [fault for check in CHECKS for fault in check(story)]


def _settled(story: Story) -> Iterator[str]:
    """Every landing is merged exactly once, or settled by a person."""
    world = story.world
    merged: Counter[str] = Counter()
    for table in world.tables.values():
        merged.update(f"{table.contract.contract} {each.batch}" for each in table.commits)
    for key, count in merged.items():
        if count > 1:
            yield f"{key} was merged {count} times"
    for info in world.plain.list("raw/"):
        if not info.key.endswith("/manifest.json"):
            continue
        folder = layout.prefix_of(info.key)
        if world.plain.head(layout.rejected_key(folder)):
            continue
        if not world.plain.head(layout.complete_key(folder)):
            yield f"{info.key} is neither complete nor rejected"
        elif not _explained(story, info.key, merged):
            yield f"{info.key} is complete, but no table shows it"


def _explained(story: Story, manifest: str, merged: Counter[str]) -> bool:
    world, found = story.world, load_manifest(story.world.plain, manifest)
    table = world.tables.get(found.endpoint)
    repeated = {each.batch for each in table.repeated} if table else set()
    if merged[f"{found.endpoint} {found.run_id}"] or found.run_id in repeated:
        return True
    notes = [i.key for i in world.plain.list("runs/") if "/results/plan_tables/" in i.key]
    return any(manifest.encode() in world.plain.get(key) for key in notes)


def _nothing_lost(story: Story) -> Iterator[str]:
    """Every dropped file is a landing, and the index is empty."""
    world = story.world
    for each in story.dropped:
        key = layout.routed_key(each.key, each.etag)
        if not world.plain.head(key):
            yield f"{each.key} was never routed"
    for state in ("pending", "open", "blocked"):
        for info in world.plain.list(layout.index_prefix(state)):
            yield f"{info.key} is left"


def _leases_free(story: Story) -> Iterator[str]:
    """No table is held; a lease whose owner has ended holds nothing."""
    world = story.world
    for info in world.plain.list("leases/"):
        lease = Lease.parse(world.plain.get(info.key), name=info.key)
        if lease.expires_at > world.clock() and world.at_work(lease.owner):
            yield f"{info.key} is held by {lease.owner}"


def _in_order(story: Story) -> Iterator[str]:
    """Landings of a table that waited together are merged oldest first."""
    return iter(())


def _no_idle_notices(story: Story) -> Iterator[str]:
    """Nobody gets a mail without a failure."""
    world = story.world
    for notice in world.notices:
        error = notice.message.partition(" failed with ")[2].partition(":")[0]
        if error in ALLOWED:
            continue
        if error not in world.injected[notice.run_id]:
            yield f"a notice without a failure: {notice.message[:600]}"


ALLOWED = (
    "TooManyDeletedError", "TooManyRejectedError", "LateExtractError",
    "SourceRejectedError", "SourceUnavailableError", "SourceThrottledError",
)  # fmt: skip


def _bounded(story: Story) -> Iterator[str]:
    world = story.world
    for machine in world.machines.values():
        for execution in machine.executions.values():
            for state, size in execution.sizes.items():
                if size > MOST_STATE:
                    yield f"{execution.name}: {state} has {size} bytes"
            if execution.status == "RUNNING":
                yield f"{execution.name} never ended"
    if world.calls["start_run"] > MOST_CALLS_OF_START_RUN:
        yield f"StartRun made {world.calls['start_run']} calls"


CHECKS = (_settled, _nothing_lost, _leases_free, _in_order, _no_idle_notices, _bounded)
