"""What lost events and ended executions have left behind is put right, or reported."""

from datetime import timedelta

import pytest

from lakekit import layout
from lakekit.landing.index import Blocked, block
from lakekit.runs.claim_landings import claim_landings
from lakekit.runs.route_file import route_file
from lakekit.runs.start_run import start_run
from lakekit.runs.sweep import sweep
from lakekit.steps.functions import ClaimLandings, RouteFile, StartRun, SweepResult
from lakekit.steps.functions import Sweep as Step
from tests.unit.runs.kit import NOON, SOURCE, Catalog, contract, landed, snapshot, table, world

NOTHING = SweepResult(started=0, routed=0, closed=0)


class Story:
    """An environment with one source, some time after noon."""

    def __init__(self) -> None:
        self.world = world()
        self.store = self.world.store
        self.catalog = Catalog()

    def begin(self, run_id: str) -> None:
        event = {"run_id": run_id, "started_at": NOON, "source": "shop",
                 "request": {"source": "shop"}}  # fmt: skip
        start_run(StartRun.from_event(event), self.store, SOURCE, (contract(),))
        claim_landings(ClaimLandings(run_id=run_id, source="shop"), self.world.flow)

    def sweep(self, minutes: int = 20) -> SweepResult:
        self.world.clock.advance(60 * minutes)
        return sweep(
            Step(started_at=self.world.clock()), self.world.flow, self.catalog, self.route,
            lambda _: {"shop": ("orders",)},
        )  # fmt: skip

    def route(self, step: RouteFile) -> None:
        route_file(step, self.world.flow, contract(step.key.split("/")[2]))


@pytest.fixture
def story() -> Story:
    return Story()


def test_a_quiet_environment_is_left_alone(story: Story) -> None:
    assert story.sweep() == NOTHING


def test_what_is_pending_without_a_run_is_started(story: Story) -> None:
    landed(story.store, {"id": 1})

    assert story.sweep() == NOTHING.model_copy(update={"started": 1})

    request = {"source": "shop", "extract": False, "origin": "sweep"}
    assert story.world.executions.started == {"sweep-shop-20260101T122000": request}


def test_what_a_run_holds_is_left_to_it(story: Story) -> None:
    landed(story.store, {"id": 1})
    story.begin("r")

    assert story.sweep() == NOTHING


def test_a_file_whose_event_was_lost_is_routed_once(story: Story) -> None:
    story.store.put("inbox/shop/orders/day.ndjson", b'{"id": 1}')
    story.store.put("inbox/shop/orders/", b"")

    assert story.sweep(minutes=5) == NOTHING
    assert story.sweep().routed == 1
    assert story.sweep().routed == 0
    assert len(story.world.pending()) == 1


def test_a_file_that_was_replaced_is_routed_again(story: Story) -> None:
    for body in (b'{"id": 1}', b'{"id": 2}'):
        story.store.put("inbox/shop/orders/day.ndjson", body)
        assert story.sweep().routed == 1

    assert len(story.world.pending()) == 2


def test_a_file_that_cannot_be_routed_is_reported_and_stops_no_other(story: Story) -> None:
    story.store.put("inbox/shop/orders/a.exe", b"x")
    story.store.put("inbox/shop/orders/b.ndjson", b'{"id": 1}')

    found = story.sweep()

    assert found.routed == 1
    assert found.found[0].startswith("inbox/shop/orders/a.exe: SourceShapeError")


def test_a_run_whose_execution_was_stopped_lets_its_tables_go(story: Story) -> None:
    landed(story.store, {"id": 1})
    story.begin("r")
    story.world.executions.ended.add("r")

    found = story.sweep()

    assert (found.closed, found.found) == (
        1, ("r: has ended before it was through",)
    )  # fmt: skip
    assert story.world.keys("index/open/") == []
    assert len(story.world.executions.started) == 1
    assert story.world.leases.acquire("orders", "next").epoch == 2


def test_reports_what_an_extraction_and_a_merge_left_that_did_not_end(story: Story) -> None:
    landed(story.store, {"id": 1}, hour=11)
    story.begin("r")
    prefix = layout.raw_prefix("shop", "orders", NOON)
    story.store.put(layout.part_key(prefix, 0), b"x")
    own = layout.branch_name("r")
    refs = {"main": {"snapshot-id": 1}, own: {"snapshot-id": 2}, f"work_{own}_1": {}, "tag": {}}
    story.catalog.tables["orders"] = table(snapshot(1), snapshot(2, 1)) | {"refs": refs}
    story.world.executions.ended.add("r")

    found = story.sweep().found

    assert found[1] == f"{prefix}: has objects of an extraction that did not end"
    assert found[2] == f"orders: has branches of merges that did not end: {own}, work_{own}_1"


@pytest.mark.parametrize("marked", [True, False])
def test_a_landing_that_its_run_could_not_put_into_the_index_is_put_there(
    story: Story, marked: bool
) -> None:
    story.begin("r")
    key = landed(story.store, {"id": 1})
    story.store.delete(layout.index_key("pending", key))
    if not marked:
        story.store.delete(layout.pending_key(layout.prefix_of(key)))
    story.world.executions.ended.add("r")

    found = story.sweep()

    assert (found.closed, found.started) == (1, 1)
    assert story.world.pending() == ["shop/orders/20260101_120000"]
    assert story.store.head(layout.pending_key(layout.prefix_of(key)))


def test_a_landing_of_an_ended_run_that_is_complete_stays_so(story: Story) -> None:
    story.begin("r")
    key = landed(story.store, {"id": 1})
    story.store.put(layout.complete_key(layout.prefix_of(key)), b"q")
    story.store.delete(layout.index_key("pending", key))
    story.world.executions.ended.add("r")

    assert story.sweep().started == 0
    assert story.world.pending() == []


def test_landings_of_a_table_without_a_contract_are_reported(story: Story) -> None:
    landed(story.store, {"id": 1}, endpoint="clients")

    assert "wait for tables without a contract: ['clients']" in story.sweep().found[0]


def test_a_blocked_landing_that_a_person_has_rejected_by_hand_leaves_the_index(
    story: Story,
) -> None:
    keys = [landed(story.store, {"id": 1}, hour=hour) for hour in (8, 9)]
    for key in keys:
        block(story.store, key, Blocked(run_id="q", error="X", cause="y", blocked_at=NOON))
    story.store.put(layout.rejected_key(layout.prefix_of(keys[0])), b"")

    story.sweep()

    assert story.world.blocked() == ["shop/orders/20260101_090000"]


def test_names_a_bounded_number_of_findings(story: Story) -> None:
    for number in range(30):
        story.store.put(f"inbox/shop/orders/{number}.exe", b"x")

    found = story.sweep()

    assert (len(found.found), found.more) == (20, 10)


def test_the_sweeps_of_one_time_start_one_run(story: Story) -> None:
    landed(story.store, {"id": 1})

    assert [story.sweep().started, story.sweep(minutes=0).started] == [1, 0]
    assert story.world.clock() == NOON + timedelta(minutes=20)
