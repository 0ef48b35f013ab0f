"""What a deployment says of itself: runs with what they published, lineage, and nothing written."""

from datetime import timedelta

from lakekit import layout
from lakekit.page.model import Lineage
from lakekit.page.operated import Around, ask_operated
from lakekit.page.published import PublishedLoad, PublishedRun, publish
from lakekit.ports import ExecutionDetails
from lakekit.watch.watch import Watched
from tests.fakes import MemoryObjectStore
from tests.unit.operate.kit import Log, execution
from tests.unit.runs.kit import NOON, World, begun, claimed, landed, world


def completed(own: World) -> None:
    """Let run `r` have merged a landing of `orders`."""
    begun(own.store)
    claimed(own.store, landed(own.store, {"id": 1}))
    own.store.put(layout.loaded_key("shop", "orders"), b"r")


def test_a_run_has_what_it_published_and_a_table_its_loads() -> None:
    own, results = world(), MemoryObjectStore()
    completed(own)
    load = PublishedLoad(table="orders", opened=3, closed=1, quarantined=2, records=9)
    publish(results, PublishedRun(
        run_id="r", source="shop", started_at=NOON, ended_at=NOON + timedelta(minutes=2),
        outcome="done", cost_usd=0.015, loads=(load,),
    ))  # fmt: skip

    log = Log(execution("r"), execution("s"), s=ExecutionDetails({"source": "shop"}))

    found = ask_operated(own.flow, log, results, NOON, Around())

    mine, other = found.runs
    assert (mine.cost_usd, other.cost_usd) == (0.015, None)
    assert mine.tables["orders"] == found.loads["orders"][0]
    assert found.loads["orders"][0].quarantine_share == 2 / 9
    assert found.loaded_at["orders"] == own.clock()


def test_lineage_leads_from_the_address_of_the_last_load_to_the_views() -> None:
    own = world()
    completed(own)
    own.store.put(layout.loaded_key("shop", "never_loaded"), b"")
    views = {"orders": ["orders_current"], "other": []}

    found = ask_operated(own.flow, Log(), MemoryObjectStore(), NOON, Around(views=views))

    assert found.lineage["orders"] == Lineage(
        source="shop", address="GET https://shop.example/orders", views=("orders_current",)
    )
    assert found.lineage["other"] == Lineage()
    assert "never_loaded" not in found.lineage


def test_to_look_at_what_is_late_writes_nothing() -> None:
    own = world()
    completed(own)
    before = dict(own.store.objects)

    def watch(store: object) -> Watched:
        store.put("watch/started/shop", b"")  # type: ignore[attr-defined]
        return Watched(stale=("shop.orders",))

    found = ask_operated(own.flow, Log(), MemoryObjectStore(), NOON, Around(watch=watch))

    assert found.watched == Watched(stale=("shop.orders",))
    assert own.store.objects == before
