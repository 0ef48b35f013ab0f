"""What must hold of every schedule once it is quiet."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from lakekit import layout
from lakekit.aws.lease import Lease
from lakekit.landing.writer import load_manifest
from lakekit.replay.merged_runs import CommittedRun, TableRuns, merged_runs
from lakekit.runs.documents import Claim, read_claim
from lakekit.table_properties import runs_in
from tests.flow.catalog import Commit, Table
from tests.flow.story import Story
from tests.flow.world import LOST, Notice

MOST_STATE = 32 * 1024
MOST_CALLS_OF_START_RUN = 20
# How often a state tries again: after what service or store did, and after what the function did.
_SERVICE, _FUNCTION = 4, 2
_OF_SERVICE = (
    "StorageUnavailableError", "Lambda.TooManyRequestsException", "Lambda.SdkClientException",
)  # fmt: skip
# Landings that may come late although nothing failed: a person asked for an old one, or the events
# of files that were dropped together came in another order.
_UNORDERED = ("/20251231_000000/", "raw/drops/days/")
_BLOCKED = re.compile(r"(\w+Error): [^;]*?\((raw/[^ ]+) waits for a person\)")
_OF_FUNCTION = ("Runtime.ExitError", "Sandbox.Timedout")


def faults(story: Story) -> list[str]:
    """Return what does not hold."""
    return [fault for check in CHECKS for fault in check(story)]


# Nothing is lost, and nothing is done twice.


def _merged_once(story: Story) -> Iterator[str]:
    """Every landing is merged exactly once, or decided by a person."""
    world = story.world
    merged = Counter(
        (name, each.batch) for name, table in world.tables.items() for each in table.commits
    )
    for (name, batch), count in merged.items():
        if count > 1:
            yield f"{batch} was merged {count} times into {name}"
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


def _explained(story: Story, manifest: str, merged: Counter[tuple[str, str]]) -> bool:
    world, found = story.world, load_manifest(story.world.plain, manifest)
    table = world.tables.get(found.endpoint)
    repeated = {each.batch for each in table.repeated} if table else set()
    if merged[found.endpoint, found.run_id] or found.run_id in repeated:
        return True
    notes = [i.key for i in world.plain.list("runs/") if "/results/plan_tables/" in i.key]
    return any(manifest.encode() in world.plain.get(key) for key in notes)


def _nothing_left(story: Story) -> Iterator[str]:
    """Every dropped file is a landing, the index is empty, and no table is held."""
    world = story.world
    for each in story.dropped:
        if not world.plain.head(layout.routed_key(each.key, each.etag)):
            yield f"{each.key} was never routed"
    for state in ("pending", "open", "blocked"):
        for info in world.plain.list(layout.index_prefix(state)):
            if not _is_for_the_sweeper(story, info.key):
                yield f"{info.key} is left"
    for info in world.plain.list("leases/"):
        lease = Lease.parse(world.plain.get(info.key), name=info.key)
        # A lease whose owner has ended holds nothing.
        if lease.expires_at > world.clock() and world.at_work(lease.owner):
            yield f"{info.key} is held by {lease.owner}"


def _is_for_the_sweeper(story: Story, key: str) -> bool:
    """Say whether a key is of a run that failed to extract, in a schedule without the sweeper."""
    runs = story.world.machines["load_source"].executions
    run = runs.get(key.rpartition("/")[2]) if key.startswith(layout.index_prefix("open")) else None
    return not story.sweeps and run is not None and run.status == "FAILED"


def _always_somewhere(story: Story) -> Iterator[str]:
    """At no time is a landing out of sight: it waits in the index, or it is decided."""
    there: set[str] = set()
    for _, key, body in story.world.store.log:
        manifest = _indexed(key)
        if body is None:
            there.discard(key)
            if manifest and not there & {*_places(manifest)}:
                yield f"{manifest} left {key} and is nowhere else"
            continue
        there.add(key)
        if manifest and manifest not in there:
            yield f"{key} was written before its manifest"
        if key.startswith(layout.index_prefix("routed")):
            manifest = body.decode()
            if not manifest or not there & {*_places(manifest)}:
                yield f"{key} was written before its landing was in the index"


def _indexed(key: str) -> str | None:
    """Return the manifest of the landing of which a key of the index is."""
    for state in ("pending", "blocked"):
        prefix = layout.index_prefix(state)
        if key.startswith(prefix):
            return f"raw/{key.removeprefix(prefix)}/manifest.json"
    return None


def _places(manifest: str) -> Iterator[str]:
    yield from (layout.index_key(state, manifest) for state in ("pending", "blocked"))
    folder = layout.prefix_of(manifest)
    yield from (layout.complete_key(folder), layout.rejected_key(folder))


# Order.


def _in_order(story: Story) -> Iterator[str]:
    """Landings of a table that waited together are claimed and merged oldest first."""
    waits = _waits(story)
    for claim in _claims(story):
        began = story.world.machines["load_source"].executions[claim.run_id].started_at
        for table in claim.tables:
            for manifest, spells in waits.items():
                if _table_of(manifest) != table.table or manifest in table.manifests:
                    continue
                there = any(a <= datetime.fromisoformat(began) and b >= claim.leased_at
                            for a, b in spells)  # fmt: skip
                if there and manifest < table.manifests[-1]:
                    yield f"{claim.run_id} left {manifest} out, and took {table.manifests[-1]}"
    for table in story.world.tables.values():
        by_run = defaultdict(list)
        for commit in table.commits:
            by_run[commit.run_id].append(commit.extraction_time)
        for run_id, times in by_run.items():
            if times != sorted(times):
                yield f"{run_id} merged younger landings of {table.contract.contract} first"


def _rejected(story: Story) -> Iterator[str]:
    """What a person has rejected before a run claimed it is not merged."""
    claims = {claim.run_id: claim for claim in _claims(story)}
    for name, table in story.world.tables.items():
        for commit in table.commits:
            decided = _rejected_at(story, table, commit)
            if decided and decided < claims[commit.run_id].leased_at:
                yield f"{commit.batch} was rejected, and then merged into {name}"


def _rejected_at(story: Story, table: Table, commit: Commit) -> datetime | None:
    name, source = table.contract.contract, table.contract.source
    marker = layout.rejected_key(layout.raw_prefix(source, name, commit.extraction_time))
    if marker not in story.world.plain.objects:
        return None
    # Not when the person began to: the marker may come seconds later.
    return max(at for at, key, body in story.world.store.log if key == marker and body is not None)


def _epochs_grow(story: Story) -> Iterator[str]:
    """Of two runs that commit to a table, the later one had the lease later."""
    claims = {claim.run_id: claim for claim in _claims(story)}
    for name, table in story.world.tables.items():
        for before, after in zip(table.commits, table.commits[1:], strict=False):
            earlier, later = claims[before.run_id].epoch(name), claims[after.run_id].epoch(name)
            if later < earlier and after.run_id not in story.world.outlived:
                yield f"{after.run_id} committed to {name} after {before.run_id}, but had it before"


def _replays(story: Story) -> Iterator[str]:
    """The documents of the runs say to a rebuild what was merged, in the order in which it was."""
    if story.world.outlived:
        return
    for name, table in story.world.tables.items():
        try:
            runs = merged_runs(
                story.world.plain, table.contract.source, name, TableRuns(_on_main(table))
            )
        except Exception as error:
            yield f"{name} cannot be rebuilt: {type(error).__name__}: {error}"
            continue
        # A landing can be rejected between its commit and the end of its run.
        rejected = {each.batch for each in table.commits if _rejected_at(story, table, each)}
        committed = [each.batch for each in table.commits if each.batch not in rejected]
        replayed = [run.batch.run_id for run in runs if run.batch.run_id in committed]
        if replayed != committed:
            yield f"{name}: a rebuild would replay {replayed}, not {committed}"


def _on_main(table: Table) -> list[CommittedRun]:
    times = {each.batch: each.at for each in table.commits}
    shown = [run_id for each in table.snapshots for run_id in runs_in(each["summary"])]
    return [CommittedRun(batch, times[batch]) for batch in shown]


# Bounds.


def _start_lost(story: Story, run_id: str) -> bool:
    return "Glue.SdkClientException" in story.world.injected[run_id]


def _bounded(story: Story) -> Iterator[str]:
    """States are small, starts are cheap, and each run follows something."""
    world = story.world
    for machine in world.machines.values():
        for execution in machine.executions.values():
            for state, size in execution.sizes.items():
                if size > MOST_STATE:
                    yield f"{execution.name}: {state} has {size} bytes"
            if execution.status == "RUNNING":
                yield f"{execution.name} never ended"
            # After the last try to start a job, nobody knows of those whose start was lost. They
            # find their work done.
            lost = "JobDied" in execution.sizes and _start_lost(story, execution.name)
            if execution.status == "SUCCEEDED" and execution.left_job and not lost:
                yield f"{execution.name} ended while a job still worked for it"
    if world.calls["start_run"] > MOST_CALLS_OF_START_RUN:
        yield f"StartRun made {world.calls['start_run']} calls"
    loads = world.machines["load_source"].executions
    followers = sum(name.startswith("next-") for name in loads)
    held = sum(bool(claim.tables) for claim in _claims(story))
    if followers > held + len(world.machines["maintain_tables"].executions):
        yield f"{followers} runs follow {held} that held a table"


def _wait_short(story: Story) -> Iterator[str]:
    """In calm weather no landing waits for more than those who hold its table, and one start.

    Of these at most one is a run: the next one takes it.
    """
    # A table whose records are as old as their extract may have to wait for a person.
    if story.sweeps or story.decided or story.weather.landings_at_once < 1000:
        return
    claimed: dict[str, Claim] = {}
    for claim in _claims(story):
        for manifest in claim.manifests:
            claimed.setdefault(manifest, claim)
    for manifest, waits in _waits(story).items():
        rejected = layout.rejected_key(layout.prefix_of(manifest))
        if manifest not in claimed or story.world.plain.head(rejected):
            continue
        claim = claimed[manifest]
        holds = [h for h in _holds(story, _table_of(manifest)) if h.end > waits[0][0]]
        before = [h for h in holds if h.begin < claim.leased_at and h.owner != claim.run_id]
        runs = {hold.owner for hold in before if not hold.maintenance}
        idle = _idle_seconds(before, waits[0][0], claim.leased_at)
        if idle > MOST_SECONDS_TO_START[story.weather.pace] or len(runs) > 1:
            yield f"{manifest} waited {idle:.0f} s for nobody, and for {sorted(runs)}"


# Also an extraction ends before its run claims.
MOST_SECONDS_TO_START = {"even": 120, "spread": 180, "slow": 600}


def _held_by_workers(story: Story) -> Iterator[str]:
    """A run leaves landings only to owners that are at work."""
    loads = story.world.machines["load_source"].executions
    ended = {name: execution.ended for name, execution in loads.items()}
    owners: dict[str, str | None] = {}
    for at, key, body in story.world.store.log:
        if key.startswith("leases/") and body is not None:
            lease = Lease.parse(body, name=key)
            # Who gives a table back looks at the index after it.
            owners[key] = lease.owner if lease.expires_at > at else None
        if not key.endswith("/claim.json") or body is None:
            continue
        claim = Claim.parse(body, name=key)
        began = datetime.fromisoformat(loads[claim.run_id].started_at)
        for table in claim.deferred:
            owner = owners[layout.lease_key(table)]
            if owner and (end := ended.get(owner)) and end < began:
                yield f"{claim.run_id} left {table} to {owner}, which had ended before"


@dataclass(frozen=True)
class _Hold:
    """Who held a table from when until when."""

    owner: str
    begin: datetime
    end: datetime
    maintenance: bool


def _holds(story: Story, table: str) -> Iterator[_Hold]:
    """Yield the holds of a table in their order."""
    lease, begin = None, story.world.clock()
    for at, key, body in story.world.store.log:
        if key != layout.lease_key(table) or body is None:
            continue
        following = Lease.parse(body, name=key)
        if lease and (following.owner != lease.owner or following.expires_at <= at):
            yield _hold(story, lease.owner, begin, at)
        if lease is None or following.owner != lease.owner or lease.expires_at <= at:
            begin = at
        lease = following if following.expires_at > at else None
    if lease:
        yield _hold(story, lease.owner, begin, story.world.clock())


def _hold(story: Story, owner: str, begin: datetime, end: datetime) -> _Hold:
    """Return a hold; maintenance looks at the index when it is through with all tables."""
    name = owner.removeprefix(layout.MAINTENANCE)
    care = story.world.machines["maintain_tables"].executions.get(name)
    if care is None or owner == name:
        return _Hold(owner, begin, end, maintenance=False)
    return _Hold(owner, begin, max(end, care.ended or end), maintenance=True)


def _idle_seconds(holds: list[_Hold], begin: datetime, end: datetime) -> float:
    """Return for how long nobody held a table."""
    idle, at = 0.0, begin
    for hold in holds:
        idle += max(0.0, (hold.begin - at).total_seconds())
        at = max(at, hold.end)
    return idle + max(0.0, (end - at).total_seconds())


def _waits(story: Story) -> dict[str, list[tuple[datetime, datetime]]]:
    """Return from when until when each landing was in the index of those that are pending."""
    prefix = layout.index_prefix("pending")
    found: dict[str, list[tuple[datetime, datetime]]] = defaultdict(list)
    since: dict[str, datetime] = {}
    for at, key, body in story.world.store.log:
        if not key.startswith(prefix):
            continue
        manifest = f"raw/{key.removeprefix(prefix)}/manifest.json"
        if body is not None:
            since.setdefault(manifest, at)
        elif manifest in since:
            found[manifest].append((since.pop(manifest), at))
    for manifest, at in since.items():
        found[manifest].append((at, story.world.clock()))
    return found


def _claims(story: Story) -> Iterator[Claim]:
    for name in story.world.machines["load_source"].executions:
        if claim := read_claim(story.world.plain, name):
            yield claim


def _table_of(manifest: str) -> str:
    return manifest.split("/")[2]


# Notices.


def _no_idle_notices(story: Story) -> Iterator[str]:
    """Nobody gets a mail without a failure, nor two for one landing."""
    named: Counter[str] = Counter()
    for notice in story.world.notices:
        if not _has_reason(story, notice):
            yield f"a notice without a failure: {notice.message[:600]}"
        named.update(manifest for _, manifest in _blocked(notice))
    for manifest, count in named.items():
        if count > 1 + len(story.decided.get(manifest, [])):
            yield f"{count} notices of {manifest}"


def _blocked(notice: Notice) -> list[tuple[str, str]]:
    """Return the errors of landings that wait for a person, with their manifests."""
    return _BLOCKED.findall(notice.message)


def _has_reason(story: Story, notice: Notice) -> bool:
    error = notice.message.partition(" failed with ")[2].partition(":")[0]
    injected = story.world.injected[notice.run_id]
    if error in ("TooManyDeletedError", "TooManyRejectedError"):
        return story.began_with.refused > 0
    if error == "LateExtractError":
        return _may_be_late(story, notice)
    if error == "States.TaskFailed" and LOST in notice.message:  # it is started once more
        return injected[error] > 1 or injected["late"] > 0
    if injected["job"] or "is rejected; start with another extraction_time" in notice.message:
        return True
    for group, tries in ((_OF_SERVICE, _SERVICE), (_OF_FUNCTION, _FUNCTION)):
        if error in group:
            return sum(injected[each] for each in group) > tries
    return injected[error] > 0


def _may_be_late(story: Story, notice: Notice) -> bool:
    """Say whether a landing can come late by what happened to others."""
    if story.world.outlived:  # a job may commit that its run had given up
        return True
    late = [manifest for error, manifest in _blocked(notice) if error == "LateExtractError"]
    if any(_is_behind_rejected(story, manifest) for manifest in late):
        return True
    if any(_was_in_time(story, manifest) for manifest in late):
        return False
    if any(_was_overtaken(story, manifest) for manifest in late):
        return True
    # A merge that changed nothing leaves nothing but its result: if its run could not complete
    # the landing, the next one finds it late. Nothing is lost.
    repeated = [
        layout.raw_prefix(table.contract.source, name, each.extraction_time)
        for name, table in story.world.tables.items()
        for each in table.repeated
    ]
    return any(each in notice.message for each in (*_UNORDERED, *repeated))


def _was_overtaken(story: Story, manifest: str) -> bool:
    """Say whether a run claimed a younger landing before this one had landed."""
    landed = min(since for since, _ in _waits(story)[manifest])
    return any(
        claim.leased_at <= landed and manifest < table.manifests[-1]
        for claim in _claims(story)
        for table in claim.tables
        if table.table == _table_of(manifest)
    )


def _is_behind_rejected(story: Story, manifest: str) -> bool:
    """Say whether a younger landing was merged that a person had rejected meanwhile.

    It is not the newest any more, as rejected ones are taken back, but the table still has it.
    """
    found = load_manifest(story.world.plain, manifest)
    table = story.world.tables[found.endpoint]
    return any(
        merged.extraction_time > found.extraction_time and _rejected_at(story, table, merged)
        for merged in (*table.commits, *table.repeated)
    )


def _was_in_time(story: Story, manifest: str) -> bool:
    """Say whether a landing waited for a person before a younger one was merged."""
    entry = layout.index_key("blocked", manifest)
    first = next((at for at, key, body in story.world.store.log if key == entry and body), None)
    found = load_manifest(story.world.plain, manifest)
    table = story.world.tables[found.endpoint]
    younger = [
        merged.at
        for merged in (*table.commits, *table.repeated)
        if merged.extraction_time > found.extraction_time
    ]
    return first is not None and first < min(younger, default=first)


CHECKS = (
    _merged_once, _nothing_left, _always_somewhere, _held_by_workers, _in_order, _rejected,
    _epochs_grow, _replays, _bounded, _wait_short, _no_idle_notices,
)  # fmt: skip
