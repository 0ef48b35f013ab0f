"""What no release writes: each is a clear error, nothing is lost, and the sweeper goes on."""

import json
from datetime import timedelta

import pytest

from lakekit import layout
from lakekit.aws.lease import LONGEST
from lakekit.config.timeouts import derive_timeouts
from lakekit.config.workers import Jobs
from lakekit.errors import InvalidStepInputError, LandingCorruptError, NewerDocumentError
from lakekit.landing.index import Blocked, block, blocked
from lakekit.runs.claim_landings import claim_landings
from lakekit.runs.complete_run import complete_run
from lakekit.runs.documents import Claim, ClaimedTable, read_claim, write_once
from lakekit.runs.next_run import back_off, backs_off
from lakekit.runs.plan_tables import plan_tables
from lakekit.runs.start_run import start_run
from lakekit.runs.sweep import sweep
from lakekit.runs.validate_landing import validate_landing
from lakekit.steps.functions import (
    ClaimLandings,
    ClaimLandingsResult,
    CompleteRun,
    PlanTables,
    StartRun,
    Sweep,
    SweepResult,
    ValidateLanding,
)
from tests.unit.runs.kit import NOON, SOURCE, Catalog, World, begun, contract, landed, world

LEASE = layout.lease_key("orders")
OF_RUN = {"run_id": "r", "source": "shop"}


@pytest.fixture
def found() -> World:
    return world()


def claim(found: World, run_id: str = "r") -> ClaimLandingsResult:
    return claim_landings(ClaimLandings(run_id=run_id, source="shop"), found.flow)


def swept(found: World) -> SweepResult:
    return sweep(
        Sweep(started_at=found.clock()), found.flow, Catalog(), lambda _: None,
        lambda sources: dict.fromkeys(sources, ("orders",)),
    )  # fmt: skip


def lease(found: World, *, until: timedelta, owner: str = "another", version: int = 1) -> None:
    value = {"schema_version": version, "table": "orders", "owner": owner, "epoch": 7,
             "expires_at": (found.clock() + until).isoformat()}  # fmt: skip
    found.store.put(LEASE, json.dumps(value).encode())


def test_a_lease_from_the_future_is_an_error_and_not_a_wait_for_years(found: World) -> None:
    key = landed(found.store, {"id": 1})
    begun(found.store)
    lease(found, until=timedelta(days=9999))

    for look in (lambda: claim(found), lambda: found.leases.holder("orders")):
        with pytest.raises(LandingCorruptError, match=r"leases/orders\.json: held by another unt"):
            look()

    assert found.pending() == [layout.index_key("pending", key).removeprefix("index/pending/")]
    assert json.loads(found.store.get(LEASE))["epoch"] == 7


def test_no_lease_of_any_environment_is_from_the_future(found: World) -> None:
    longest = timedelta(seconds=derive_timeouts(2880).lease)

    assert longest + timedelta(days=1) < LONGEST
    lease(found, until=longest)
    assert found.leases.holder("orders") == "another"


@pytest.mark.parametrize(
    ("body", "error"),
    [(b"", LandingCorruptError), (b'{"schema_version": 2}', NewerDocumentError)],
)
def test_a_lease_that_cannot_be_read_is_kept_with_its_epoch(
    found: World, body: bytes, error: type[Exception]
) -> None:
    """The epochs order the runs of a table: to begin again with the first would mix them up."""
    landed(found.store, {"id": 1})
    begun(found.store)
    found.store.put(LEASE, body)

    with pytest.raises(error, match=r"leases/orders\.json: "):
        claim(found)

    assert found.store.get(LEASE) == body
    assert len(found.pending()) == 1


def test_the_sweeper_reports_what_it_cannot_read_and_goes_on(found: World) -> None:
    landed(found.store, {"id": 1})
    lease(found, until=timedelta(hours=1), version=2)
    landed(found.store, {"id": 1}, source="zoo", endpoint="animals")
    found.store.put(layout.open_run_key("shop", "q"), b"")
    found.store.put(layout.claim_key("q"), b"nonsense")
    found.executions.ended.add("q")

    result = swept(found)

    assert result.started == 1
    assert any("runs/q/claim.json: not a Claim" in each for each in result.found)
    assert any("leases/orders.json: has schema_version 2" in each for each in result.found)
    assert found.keys("index/open/") == [layout.open_run_key("shop", "q")]


def test_an_entry_of_the_index_without_its_landing_is_blocked_by_its_name(found: World) -> None:
    begun(found.store)
    found.store.put("index/pending/shop/orders/20260101_080000", b"anything")
    manifest = "raw/shop/orders/20260101_080000/manifest.json"

    validated(found)

    why = blocked(found.store, manifest)
    assert why
    assert (why.error, why.cause) == ("LandingCorruptError", f"{manifest}: missing")


def validated(found: World) -> None:
    claim(found)
    validate_landing(ValidateLanding(**OF_RUN, share=0), found.store)
    plan_tables(PlanTables(**OF_RUN), found.store, Catalog(), Jobs())
    complete_run(CompleteRun(**OF_RUN), found.flow, Catalog(), lambda _: None)


def test_names_that_are_no_landings_do_not_crowd_out_those_that_are(found: World) -> None:
    key = landed(found.store, {"id": 1})
    begun(found.store)
    for number in range(1001):
        found.store.put(f"index/pending/shop/orders/#{number}", b"")

    claim(found)

    document = read_claim(found.store, "r")
    assert document
    assert document.manifests == (key,)


def test_an_open_run_whose_entry_is_damaged_is_read_from_its_document(found: World) -> None:
    ordered = contract(endpoint=contract().endpoint.model_copy(update={"extract": "incremental"}))
    event = {"run_id": "q", "started_at": NOON, "source": "shop", "request": {"source": "shop"}}
    start_run(StartRun.from_event(event), found.store, SOURCE, (ordered,))
    found.store.put(layout.open_run_key("shop", "q"), b"damaged")
    landed(found.store, {"id": 1}, hour=13, extract="incremental")
    begun(found.store, ordered)

    # It lands something older, for which the pending landing waits.
    assert claim(found).shares == ()

    found.store.delete(layout.run_key("q"))
    begun(found.store, ordered, run_id="s")
    with pytest.raises(LandingCorruptError, match=r"runs/q/run\.json: missing"):
        claim(found, "s")
    assert len(found.pending()) == 1


def test_a_pause_that_cannot_be_read_is_none(found: World) -> None:
    found.store.put(layout.backoff_key("shop", "orders"), b"damaged")

    assert not backs_off(found.store, "shop", "orders", NOON)
    back_off(found.store, "shop", "orders", "r", NOON)
    back_off(found.store, "shop", "orders", "s", NOON)
    assert backs_off(found.store, "shop", "orders", NOON)


def test_a_reason_that_cannot_be_read_is_an_error_with_its_key(found: World) -> None:
    key = landed(found.store, {"id": 1})
    block(found.store, key, Blocked(run_id="r", error="X", cause="y", blocked_at=NOON))
    entry = layout.index_key("blocked", key)
    found.store.put(entry, b"[]")

    with pytest.raises(LandingCorruptError, match=f"{entry}: not a Blocked"):
        blocked(found.store, key)
    assert found.blocked() == [entry.removeprefix("index/blocked/")]


def test_a_claim_of_nothing_ends_the_run(found: World) -> None:
    begun(found.store)
    assert claim(found).shares == ()
    with pytest.raises(InvalidStepInputError, match=r"claim\.json: has 0 shares, none is 0"):
        validate_landing(ValidateLanding(**OF_RUN, share=0), found.store)

    assert not plan_tables(PlanTables(**OF_RUN), found.store, Catalog(), Jobs()).merge
    done = complete_run(CompleteRun(**OF_RUN), found.flow, Catalog(), lambda _: None)
    assert done.outcome == "done"


def test_a_claim_of_a_table_without_landings_gives_the_table_back(found: World) -> None:
    begun(found.store)
    epoch = found.leases.acquire("orders", "r").epoch
    tables = (ClaimedTable(table="orders", epoch=epoch, manifests=()),)
    empty = Claim(run_id="r", leased_at=NOON, tables=tables)
    write_once(found.store, layout.claim_key("r"), empty)

    # The definition goes from an empty claim to its end.
    assert claim(found).shares == ()
    done = complete_run(CompleteRun(**OF_RUN), found.flow, Catalog(), lambda _: None)

    assert done.outcome == "done"
    assert found.leases.holder("orders") is None


@pytest.mark.parametrize("text", [b"", b"{}"])
def test_a_claim_without_content_is_an_error_by_its_name(found: World, text: bytes) -> None:
    landed(found.store, {"id": 1})
    begun(found.store)
    found.store.put(layout.claim_key("r"), text)

    with pytest.raises(LandingCorruptError, match=r"runs/r/claim\.json: not a Claim"):
        claim(found)
    assert len(found.pending()) == 1


def test_a_manifest_that_names_objects_of_another_source_is_blocked(found: World) -> None:
    key = landed(found.store, {"id": 1})
    foreign = "raw/zoo/orders/20260101_120000/part-00000.ndjson.gz"
    found.store.put(key, found.store.get(key).replace(b"raw/shop/orders", b"raw/zoo/orders"))
    begun(found.store)

    validated(found)

    why = blocked(found.store, key)
    assert why
    assert why.cause == f"{key}: names {foreign}, which is of another landing"
    assert found.pending() == []
    assert found.store.head(key)


def test_a_claim_with_a_landing_of_another_source_is_refused_and_not_its_landing(
    found: World,
) -> None:
    key = landed(found.store, {"id": 1}, source="zoo")
    begun(found.store)
    tables = (ClaimedTable(table="orders", epoch=1, manifests=(key,)),)
    write_once(found.store, layout.claim_key("r"), Claim(run_id="r", leased_at=NOON, tables=tables))

    with pytest.raises(LandingCorruptError, match=rf"claim\.json: names {key}, which is none of"):
        validate_landing(ValidateLanding(**OF_RUN, share=0), found.store)
    assert found.pending() == ["zoo/orders/20260101_120000"]
