"""What needs a person: each kind with its command, what stops data first."""

from datetime import timedelta

from lakekit.operate.landings import Reason, Waiting
from lakekit.operate.status import TableStatus
from lakekit.page.model import Files, Load, Need, PageRun, PageTable
from lakekit.page.needs import all_needs
from lakekit.page.operated import Operated
from lakekit.watch.watch import Watched
from tests.unit.page.examples import NOW

OPTION = "--environment dev"


def needs(*tables: PageTable, runs: tuple[PageRun, ...] = (), **operated: object) -> list[Need]:
    given = {
        "runs": runs, "loads": {}, "loaded_at": {}, "lineage": {}, "waiting": (), "status": (),
        "watched": None, "dead": {},
    } | operated  # fmt: skip
    place = Operated(**given)  # type: ignore[arg-type]
    return list(all_needs(OPTION, NOW, tables, runs, place))


def waiting(error: str) -> Waiting:
    reason = Reason(error=error, cause="81 % are missing", run_id="r-1", blocked_at=NOW)
    manifest = "raw/shop/orders/20261128_060000/manifest.json"
    return Waiting(source="shop", table="orders", time="20261128_060000", manifest=manifest,
                   state="blocked", blocked=reason)  # fmt: skip


def loaded(*rejected: int) -> PageTable:
    loads = tuple(Load(at=NOW, quarantined=number, records=1000) for number in rejected)
    return PageTable(name="orders", kind="scd2", loads=loads, attached=("orders_quarantine",))


def test_nothing_needs_a_person() -> None:
    assert needs(loaded(0, 0, 0)) == []


def test_a_guarded_landing_is_approved_and_another_one_tried_again() -> None:
    guarded, broken = needs(
        waiting=(waiting("TooManyDeletedError"), waiting("LandingCorruptError"))
    )

    assert guarded.severity == "act"
    assert guarded.detail == "TooManyDeletedError: 81 % are missing"
    assert guarded.commands[1] == (
        'lakekit approve orders 20261128_060000 --reason "…" --environment dev'
    )
    assert broken.commands[1] == "lakekit retry orders 20261128_060000 --environment dev"


def test_the_last_run_of_a_source_failed() -> None:
    def run(outcome: str, source: str = "shop") -> PageRun:
        return PageRun(run_id="r", source=source, outcome=outcome, started_at=NOW, error="E",
                       cause="403")  # fmt: skip

    (one,) = needs(runs=(run("running"), run("failed"), run("failed"), run("done", "other")))

    assert (one.title, one.detail) == ("shop: the last run failed", "E: 403")
    assert one.commands == ("lakekit runs --source shop --environment dev",)
    assert needs(runs=(run("done"), run("failed"))) == []


def test_dead_letters_overdue_sources_stale_tables_and_merges_that_fail() -> None:
    stale = PageTable(name="orders", kind="scd2", stale=True, loaded_at=NOW - timedelta(days=3))
    status = TableStatus(
        source="shop", table="orders", pending=2, oldest_pending=None, blocked=0, held_by=None,
        failures=3, next_try=NOW, newest_complete=None,
    )  # fmt: skip

    found = needs(
        stale,
        dead={"lakekit-dev-inbox_dead": 2, "lakekit-dev-schedules_dead": 0},
        watched=Watched(overdue=("shop",)),
        status=(status,),
    )

    assert [each.title for each in found] == [
        "2 dead letters in the queue lakekit-dev-inbox_dead",
        "shop: its schedule was to fire and did not",
        "orders: its merge failed 3 times in a row",
        "orders: stale, it was last loaded 3 d ago",
    ]


def test_more_rejected_records_than_usual_are_worth_a_look() -> None:
    (one,) = needs(loaded(1, 2, 1, 40))

    assert one.severity == "look"
    assert one.detail == (
        "40 records of the last load, 4 % of it, and 0.1 % of the loads before it."
    )
    assert one.commands == (
        'lakekit sql "SELECT _fault, count(*) FROM orders_quarantine GROUP BY 1" --environment dev',
    )
    assert needs(loaded(30, 40, 30, 40)) == []
    assert needs(loaded(5)) == []
    assert len(needs(loaded(11))) == 1


def test_what_stops_data_comes_before_what_is_worth_a_look() -> None:
    files = Files(data=2, deletes=9, fault="compaction due")
    table = PageTable(name="orders", kind="scd2", files=files)

    found = needs(table, waiting=(waiting("TooManyDeletedError"),))

    assert [each.severity for each in found] == ["act", "look"]


def test_many_of_a_kind_are_bounded() -> None:
    found = needs(waiting=(waiting("TooManyDeletedError"),) * 30)

    assert len(found) == 9
    assert found[-1].title == "22 more like the last one"
