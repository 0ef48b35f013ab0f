"""What happens in a schedule, until all is quiet: files, loads, maintenance, people."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from lakekit import layout
from lakekit.errors import InvalidStepInputError, TableBusyError
from lakekit.landing.decisions import reject
from lakekit.landing.index import BLOCKED, PENDING
from lakekit.landing.writer import load_manifest
from lakekit.operate.decide import approve_landing, reject_landing, retry_landings
from tests.flow.functions import FUNCTIONS
from tests.flow.lake import CONTRACTS, DROPS, SHOP
from tests.flow.weather import clear_up, draw
from tests.flow.world import World, waits_for_person

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
# How long the outside world goes on; what it has begun is then brought to an end.
BUSY = 3 * HOUR
# The queue of the inbox: after so many seconds a message comes again, so many times.
HIDDEN, RECEIVES = 5340, 5
SWEEP = 15 * MINUTE
# How many files arrive within how many seconds: at once, and one after the other as runs end.
BURSTS = ((1, 1), (3, 1), (20, 1), (20, 20), (20, 600), (40, 3600))
# So many sweeps in a row bring any schedule to rest: a pause of a table lasts a day at most.
MOST_SWEEPS = 4 * 24 * 8


@dataclass
class Dropped:
    """A file that was dropped into the inbox."""

    key: str
    etag: str
    table: str
    at: float


@dataclass
class Story:
    """One schedule: the world, and what others did to it."""

    seed: int
    trace: bool = False
    dropped: list[Dropped] = field(default_factory=list)
    events: dict[str, dict[str, Any]] = field(default_factory=dict)
    # Landings about which a person has decided, and how.
    decided: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.weather = draw(self.random)
        self.began_with = replace(self.weather)
        self.world = World(self.seed, self.weather, trace=self.trace)
        self.kernel = self.world.kernel
        # In calm weather nothing is lost, and nothing must need the sweeper.
        self.sweeps = not self.weather.calm

    def play(self) -> None:
        """Play the schedule to its end."""
        try:
            self._begin()
            self.kernel.run(20 * DAY)
            self._come_to_rest()
        finally:
            self.kernel.abandon()

    def _begin(self) -> None:
        """Let the outside world do what chance wants, each at a time of its own."""
        for _ in range(self.random.randint(0, 4)):
            self._at(self._schedule)
        for burst in range(self.random.randint(0, 3)):
            table = self.random.choice(CONTRACTS[DROPS]).contract
            count, length = self.random.choice(BURSTS)
            begin = self._time()
            for number in range(count):
                name = f"{table}-{burst}-{number}"
                after = begin + self.random.uniform(0, length)
                self._spawn("drop", lambda table=table, name=name: self._drop(table, name), after)
        for _ in range(self.random.randint(0, 2)):
            self._at(self._person_starts)
        for _ in range(self.random.randint(0, 1)):
            self._at(self._maintenance)
            self._at(self._rebuild)
        for _ in range(self.random.randint(0, 2)):
            self._at(self._rejects)
        self._spawn("person", self._person, 10 * MINUTE)
        self._spawn("end of all faults", lambda: clear_up(self.weather), BUSY)
        if self.sweeps:
            self._spawn("sweeper", self._sweeper, self.random.uniform(0, SWEEP))

    def _time(self) -> float:
        # Often together: what meets nobody shows nothing.
        return self.random.choice((0, BUSY / 3, self.random.uniform(0, BUSY)))

    def _at(self, what: Any) -> None:
        self._spawn(what.__name__.strip("_"), what, self._time() + self.random.uniform(0, 60))

    def _spawn(self, name: str, what: Any, after: float) -> None:
        self.kernel.spawn(name, what, after=after)

    def _schedule(self) -> None:
        """Start a load, as EventBridge Scheduler does: at least once."""
        loads = self.world.machines["load_source"]
        for _ in range(2 if self.world.chance(self.weather.event_doubled) else 1):
            name = f"schedule-{SHOP}-{len(loads.executions)}"
            loads.begin(name, {"source": SHOP, "origin": "schedule"})
            self.kernel.sleep(self.random.choice((0, 0.5, 30)))

    def _person_starts(self) -> None:
        loads = self.world.machines["load_source"]
        source = self.random.choice((SHOP, DROPS))
        request: dict[str, Any] = {"source": source, "extract": source == SHOP}
        if self.random.random() < 0.3:
            request["extraction_time"] = "2025-12-31T00:00:00Z"
        name = f"person-{len(loads.executions)}"
        loads.begin(name, request)
        if self.random.random() < 0.3:
            loads.begin(name, request)

    def _maintenance(self) -> None:
        machine = self.world.machines["maintain_tables"]
        source = self.random.choice((SHOP, DROPS))
        machine.begin(f"care-{len(machine.executions)}", {"source": source})

    def _rebuild(self) -> None:
        """Hold a table as a rebuild does: nobody looks at the index after it."""
        table = self.random.choice(CONTRACTS[self.random.choice((SHOP, DROPS))]).contract
        try:
            self.world.flow.leases.acquire(table, layout.REBUILD_OWNER)
        except TableBusyError:
            return
        self.sweeps = True
        self._spawn("sweeper", self._sweeper, SWEEP)
        self.kernel.sleep(self.random.uniform(60, HOUR))
        self.world.flow.leases.release(table, layout.REBUILD_OWNER)

    # Files.

    def _drop(self, table: str, name: str) -> None:
        """Put a file into the inbox; S3 sends its event, or not, or twice."""
        records = self.world.records.make(self.world.records.kind(), 2)
        body = "\n".join(map(json.dumps, records)).encode()
        key = f"{layout.inbox_prefix(DROPS, table)}{name}.ndjson"
        etag = self.world.plain.put(key, body)
        self.world.say(f"drops {key}")
        self.dropped.append(Dropped(key, etag, table, self.kernel.now))
        if self.world.chance(self.weather.event_lost):
            self.world.say("its event is lost")
            return
        event = {"key": key, "etag": etag.strip('"'), "version": None,
                 "arrived_at": self.world.clock().isoformat(timespec="seconds")}  # fmt: skip
        self.events[key] = event
        for _ in range(2 if self.world.chance(self.weather.event_doubled) else 1):
            late = self.world.chance(self.weather.event_late)
            delay = self.random.uniform(0, HOUR) if late else self.random.uniform(0, 2)
            self._spawn(f"event {name}", lambda: self._receive(event), delay)

    def _receive(self, event: dict[str, Any]) -> None:
        """Hand a message to RouteFile until it succeeds, or is given up."""
        for _ in range(RECEIVES):
            run = lambda: FUNCTIONS["route_file"](self.world, event)  # noqa: E731
            task = self.world.work(f"route {event['key'].split('/')[-1]}", "inbox", run)
            self.kernel.join(task)
            if task.error is None:
                return
            self.kernel.sleep(HIDDEN)

    # Those who look after it.

    def _sweeper(self) -> None:
        while self.kernel.now < BUSY:
            self._sweep()
            self.kernel.sleep(SWEEP)

    def _sweep(self) -> None:
        task = self.world.work("sweep", "sweep", lambda: FUNCTIONS["sweep"](self.world, {}))
        self.kernel.join(task, 890)
        self.kernel.kill(task)
        if isinstance(task.error, Exception) and not self.world.injected["sweep"]:
            raise task.error

    def _person(self) -> None:
        while self.kernel.now < BUSY:
            self._decide()
            self.kernel.sleep(self.random.uniform(5 * MINUTE, HOUR))

    def _decide(self) -> None:
        """Approve, reject or retry what waits for a person."""
        choices: dict[str, Callable[[str], Any]] = {
            "reject": lambda each: reject_landing(self.world.flow, each, "so it is", "anna"),
            "approve": lambda each: approve_landing(self.world.flow, each, "so it is", "anna"),
            "retry": lambda each: retry_landings(self.world.flow, [each], "anna"),
        }
        for manifest in waits_for_person(self.world):
            # Who approved a landing that is still refused does not do so again.
            choice = "reject" if manifest in self.decided else self.random.choice([*choices])
            self.decided.setdefault(manifest, []).append(choice)
            self.world.say(f"{choice} {manifest}")
            try:
                choices[choice](manifest)
            except InvalidStepInputError as error:
                self.world.say(str(error))

    def _rejects(self) -> None:
        """Reject a landing that waits for nobody but the next run."""
        prefix = layout.index_prefix(PENDING)
        found = [info.key.removeprefix(prefix) for info in self.world.plain.list(prefix)]
        if found:
            manifest = f"raw/{self.random.choice(found)}/manifest.json"
            self.world.say(f"rejects {manifest}")
            with suppress(InvalidStepInputError):
                reject(self.world.store, manifest, "a draft", self.world.clock())
            key = load_manifest(self.world.plain, manifest).request.url.removeprefix("memory://")
            if key in self.events and self.world.chance(self.weather.event_doubled):
                self._spawn(f"event again {key}", lambda: self._receive(self.events[key]), 1)

    def _come_to_rest(self) -> None:
        """Let people and sweeper put right what is left, as time goes on."""
        for _ in range(MOST_SWEEPS):
            if self._is_at_rest():
                return
            self._spawn("person", self._decide, 5 * MINUTE)
            if self.sweeps:
                self._spawn("sweep", self._sweep, SWEEP)
            self.kernel.run(5 * DAY)

    def _is_at_rest(self) -> bool:
        plain = self.world.plain
        states = (PENDING, BLOCKED, "open")
        left = [info for state in states for info in plain.list(layout.index_prefix(state))]
        routed = {info.key for info in plain.list(layout.index_prefix("routed"))}
        lost = any(layout.routed_key(each.key, each.etag) not in routed for each in self.dropped)
        return not left and not lost
