"""Each step that is a function, called as its handler calls it, with the world for adapters."""

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any

from lakekit.config.workers import Jobs
from lakekit.runs.claim_landings import claim_landings
from lakekit.runs.complete_run import complete_run
from lakekit.runs.extract_pages import extract_pages
from lakekit.runs.plan_tables import plan_tables
from lakekit.runs.record_failure import record_failure
from lakekit.runs.route_file import parse_inbox_key, route_file
from lakekit.runs.start_pending import start_pending
from lakekit.runs.start_run import start_run
from lakekit.runs.sweep import sweep
from lakekit.runs.validate_landing import validate_landing
from lakekit.steps import functions as steps
from tests.flow.lake import CONTRACTS, SOURCES, Api

if TYPE_CHECKING:
    from tests.flow.world import World

Event = dict[str, Any]


def _start_run(world: "World", event: Event) -> Event:
    step = steps.StartRun.from_event(event)
    source, contracts = SOURCES[step.source], CONTRACTS[step.source]
    return start_run(step, world.store, source, contracts).to_event()


def _extract_pages(world: "World", event: Event) -> Event:
    step = steps.ExtractPages.from_event(event)
    inject = partial(world.inject, step.run_id)
    api = Api(world.kernel.sleep, inject, world.random, world.weather, world.records)
    seconds = world.random.choice((10, 800, 800))
    return extract_pages(step, world.store, lambda *_: api, lambda: seconds).to_event()  # type: ignore[arg-type,return-value]


def _claim_landings(world: "World", event: Event) -> Event:
    return claim_landings(steps.ClaimLandings.from_event(event), world.flow).to_event()


def _validate_landing(world: "World", event: Event) -> Event:
    return validate_landing(steps.ValidateLanding.from_event(event), world.store).to_event()


def _plan_tables(world: "World", event: Event) -> Event:
    return plan_tables(steps.PlanTables.from_event(event), world.store, world, Jobs()).to_event()


def _complete_run(world: "World", event: Event) -> Event:
    step = steps.CompleteRun.from_event(event)
    return complete_run(step, world.flow, world, lambda loaded: None).to_event()


def _record_failure(world: "World", event: Event) -> Event:
    return record_failure(steps.RecordFailure.from_event(event), world.flow).to_event()


def _start_pending(world: "World", event: Event) -> Event:
    return start_pending(steps.StartPending.from_event(event), world.flow).to_event()


def route_step(world: "World", step: steps.RouteFile) -> steps.RouteFileResult:
    """Land one file and start its run."""
    file = parse_inbox_key(step.key)
    contracts = {each.contract: each for each in CONTRACTS[file.source]}
    return route_file(step, world.flow, contracts[file.endpoint])


def _route_file(world: "World", event: Event) -> Event:
    return route_step(world, steps.RouteFile.from_event(event)).to_event()


def _sweep(world: "World", event: Event) -> Event:
    step = steps.Sweep(started_at=world.clock())
    route = partial(route_step, world)
    return sweep(step, world.flow, world, route, _tables_of).to_event()


def _tables_of(sources: Collection[str]) -> dict[str, list[str]]:
    known = {name: CONTRACTS[name] for name in sources if name in CONTRACTS}
    return {name: [each.contract for each in found] for name, found in known.items()}


FUNCTIONS: dict[str, Callable[["World", Event], Event]] = {
    "start_run": _start_run,
    "extract_pages": _extract_pages,
    "claim_landings": _claim_landings,
    "validate_landing": _validate_landing,
    "plan_tables": _plan_tables,
    "complete_run": _complete_run,
    "record_failure": _record_failure,
    "start_pending": _start_pending,
    "route_file": _route_file,
    "sweep": _sweep,
}
