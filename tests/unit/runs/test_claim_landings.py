"""What a run takes: tables that are free, and their oldest landings."""

from datetime import timedelta
from typing import Any

import pytest

from lakekit import layout
from lakekit.contract.contract import Column, Contract
from lakekit.errors import InvalidStepInputError
from lakekit.landing.index import PENDING, Blocked, block
from lakekit.runs import claim_landings as module
from lakekit.runs.claim_landings import claim_landings
from lakekit.runs.documents import Claim, read_claim
from lakekit.runs.next_run import back_off
from lakekit.steps.functions import ClaimLandings, ClaimLandingsResult
from tests.unit.runs.kit import NOON, World, begun, contract, landed, world

BOTH = (contract("orders"), contract("clients"))


class Story:
    """Claims of runs of one source."""

    def __init__(self) -> None:
        self.world = world()

    def land(self, *hours: int, endpoint: str = "orders") -> list[str]:
        store = self.world.store
        return [
            landed(store, {"id": 1}, hour=hour, run_id=f"r{hour}", endpoint=endpoint)
            for hour in hours
        ]

    def claim(
        self, run_id: str = "r", contracts: tuple[Contract, ...] = BOTH, **changes: Any
    ) -> ClaimLandingsResult:
        begun(self.world.store, *contracts, run_id=run_id, **changes)
        return claim_landings(ClaimLandings(run_id=run_id, source="shop"), self.world.flow)

    def document(self, run_id: str = "r") -> Claim:
        found = read_claim(self.world.store, run_id)
        assert found
        return found

    def taken(self, run_id: str = "r") -> dict[str, list[str]]:
        return {each.table: list(each.manifests) for each in self.document(run_id).tables}


@pytest.fixture
def story() -> Story:
    return Story()


def holder(world: World, table: str = "orders") -> str | None:
    return world.leases.holder(table)


def test_takes_the_tables_with_pending_landings_oldest_first(story: Story) -> None:
    late, early = story.land(9, 8)

    result = story.claim()

    assert result == ClaimLandingsResult(shares=(0, 1), deferred=0)
    assert story.taken() == {"orders": [early, late]}
    assert (holder(story.world), holder(story.world, "clients")) == ("r", None)


def test_claims_nothing_where_nothing_is_pending(story: Story) -> None:
    assert story.claim() == ClaimLandingsResult(shares=(), deferred=0)
    assert story.world.keys("leases/") == []


def test_leaves_a_table_that_others_hold_to_them_and_takes_its_neighbour(story: Story) -> None:
    story.land(8)
    [own] = story.land(8, endpoint="clients")
    story.world.leases.acquire("orders", "other")

    result = story.claim()

    assert (result.shares, result.deferred) == ((0,), 1)
    assert story.taken() == {"clients": [own]}
    assert story.document().deferred == ("orders",)


def test_takes_over_a_table_whose_holder_has_ended(story: Story) -> None:
    [key] = story.land(8)
    story.world.leases.acquire("orders", "dead")
    story.world.executions.ended.add("dead")

    story.claim()

    assert story.taken() == {"orders": [key]}


def test_takes_a_bounded_number_and_as_much_of_each_table(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_LANDINGS", 4)
    orders, clients = story.land(6, 7, 8), story.land(6, 7, 8, endpoint="clients")

    story.claim()

    assert story.taken() == {"clients": clients[:2], "orders": orders[:2]}


def test_the_same_claim_again_returns_the_same_result(story: Story) -> None:
    story.land(8)
    first = story.claim()
    story.land(9)

    assert story.claim() == first
    assert len(story.taken()["orders"]) == 1


def test_refuses_to_claim_again_when_others_may_have_merged_since(story: Story) -> None:
    story.land(8)
    story.claim("first")
    story.world.leases.release("orders", "first")
    story.claim("second")
    story.world.leases.release("orders", "second")

    with pytest.raises(InvalidStepInputError, match="never redrive"):
        story.claim("first")


def test_an_attempt_that_sees_nothing_leaves_the_table_to_another_attempt_that_claims_it(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    (key,) = story.land(8)
    real, others = module.oldest, [story.claim]

    def oldest(*given: Any, **options: Any) -> list[str]:
        if given[1] == PENDING and others:
            others.pop()()  # the same step again, as its answer was lost
            return []
        return list(real(*given, **options))

    monkeypatch.setattr(module, "oldest", oldest)
    story.claim()

    assert story.taken() == {"orders": [key]}
    assert holder(story.world) == "r"


def test_keeps_the_epoch_and_time_of_its_leases_which_order_the_runs_of_a_table(
    story: Story,
) -> None:
    story.land(8)
    story.claim("a")
    story.world.leases.release("orders", "a")
    story.world.clock.advance(600)
    story.claim("b")

    first, second = story.document("a"), story.document("b")

    assert second.epoch("orders") > first.epoch("orders")
    assert second.leased_at == NOON + timedelta(minutes=10)


@pytest.mark.parametrize(
    ("origin", "takes"),
    [("file", False), ("next", False), ("sweep", False), ("schedule", True), ("person", True)],
)
def test_a_table_whose_merges_fail_waits_unless_a_person_or_a_schedule_wants_it(
    story: Story, origin: str, takes: bool
) -> None:
    story.land(8)
    for run_id in ("one", "two"):
        back_off(story.world.store, "shop", "orders", run_id, NOON)

    result = story.claim(origin=origin)

    assert (result.shares == (0,)) is takes
    story.world.clock.advance(15 * 60)
    assert story.claim("later", origin=origin).shares == (() if takes else (0,))


@pytest.mark.parametrize(
    ("extract", "sequence_by", "waits"),
    [("full", None, False), ("incremental", None, True), ("incremental", "at", False)],
)
def test_what_is_as_old_as_its_extract_does_not_overtake_a_blocked_landing(
    story: Story, extract: str, sequence_by: str | None, waits: bool
) -> None:
    first, second = story.land(8, 9)
    why = Blocked(run_id="q", error="X", cause="y", blocked_at=NOON)
    block(story.world.store, first, why)
    plain = contract()
    own = plain.model_copy(
        update={
            "columns": (*plain.columns, Column(name="at", type="timestamp")),
            "endpoint": plain.endpoint.model_copy(update={"extract": extract}),
            "history": plain.history.model_copy(update={"sequence_by": sequence_by}),
        }
    )

    story.claim(contracts=(own,))

    assert story.taken() == ({} if waits else {"orders": [second]})
    assert story.document().waiting == (("orders",) if waits else ())


def incremental(name: str = "orders") -> Contract:
    own = contract(name)
    return own.model_copy(
        update={"endpoint": own.endpoint.model_copy(update={"extract": "incremental"})}
    )


def extracts(story: Story, run_id: str, hour: int) -> None:
    """Let another run extract what is of an hour."""
    time = NOON.replace(hour=hour).isoformat().encode()
    story.world.store.put(layout.open_run_key("shop", run_id), time)


def test_what_is_as_old_as_its_extract_waits_for_an_older_one_that_is_still_extracted(
    story: Story,
) -> None:
    first, _ = story.land(8, 10)
    extracts(story, "slow", 9)
    extracts(story, "younger", 11)
    story.world.store.put(layout.open_run_key("shop", "of-a-file"), b"")

    story.claim(contracts=(incremental(),))

    assert story.taken() == {"orders": [first]}


@pytest.mark.parametrize("ending", ["landed", "failed", "ended"])
def test_an_older_extraction_that_brings_nothing_more_is_not_waited_for(
    story: Story, ending: str
) -> None:
    keys = story.land(*((8, 9, 10) if ending == "landed" else (8, 10)))
    extracts(story, "slow", 9)
    if ending == "failed":
        story.world.store.put(layout.failure_key("slow", "orders"), b"{}")
    elif ending == "ended":
        story.world.executions.ended.add("slow")

    story.claim(contracts=(incremental(),))

    assert story.taken() == {"orders": keys}


def test_where_the_order_does_not_count_no_extraction_is_waited_for(story: Story) -> None:
    keys = story.land(8, 10)
    extracts(story, "slow", 9)

    story.claim()

    assert story.taken() == {"orders": keys}


def test_a_name_in_the_index_that_is_no_landing_is_passed_over(story: Story) -> None:
    story.world.store.put("index/pending/shop/orders/nonsense", b"")
    story.world.store.put("index/pending/shop/unknown/20260101_000000", b"")
    [key] = story.land(8)

    story.claim()

    assert story.taken() == {"orders": [key]}


def test_a_lease_from_the_future_of_an_owner_that_has_ended_is_taken_over(story: Story) -> None:
    story.land(8)
    story.world.clock.advance(10**8)
    story.world.leases.acquire("orders", "dead")
    story.world.clock.advance(-(10**8))
    story.world.executions.ended.add("dead")

    assert story.claim().shares == (0,)


def test_the_calls_of_a_claim_do_not_grow_with_what_has_landed(story: Story) -> None:
    keys = story.land(*range(24))
    for key in keys[:-1]:
        story.world.store.put(layout.complete_key(layout.prefix_of(key)), b"")
        story.world.store.delete(layout.index_key("pending", key))
    begun(story.world.store, *BOTH)
    calls: list[str] = []
    store = story.world.store
    for name in ("get", "head", "put", "list", "folders", "delete"):
        original = getattr(store, name)

        def counted(*a: Any, _name: str = name, _call: Any = original, **k: Any) -> Any:
            calls.append(_name)
            return _call(*a, **k)

        setattr(store, name, counted)

    claim_landings(ClaimLandings(run_id="r", source="shop"), story.world.flow)

    assert len(calls) <= 20
