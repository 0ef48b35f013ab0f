"""Pages to look at: an empty place, one of trouble, and one of a hundred tables."""

import math
import random
from datetime import UTC, datetime, timedelta

from lakekit.page.model import (
    Change,
    Files,
    KeyHistory,
    Lineage,
    Load,
    Need,
    Page,
    PageColumn,
    PageRun,
    PageTable,
    Rejects,
    Snapshot,
    Version,
)

NOW = datetime(2026, 11, 28, 11, 46, tzinfo=UTC)
HOSTILE = "</script><img src=x onerror=alert(1)>"
TYPES = ("bigint", "string", "decimal(18,2)", "timestamp_ntz", "array<string>", "boolean")
WORDS = ("customer", "order", "status", "amount", "currency", "updated", "country", "email", "city")


def page(*tables: PageTable, **fields: object) -> Page:
    given = {"place": "dev", "option": "--environment dev", "written_at": NOW, "tables": tables}
    return Page.model_validate(given | fields)


def empty() -> Page:
    return page()


def trouble() -> Page:
    names = ("orders", "customers", "payments", "shipments")
    tables = [table(name, seed) for seed, name in enumerate(names)]
    tables[1] = tables[1].model_copy(update={"stale": True, "loaded_at": NOW - timedelta(days=3)})
    tables[2] = tables[2].model_copy(
        update={"files": Files(data=214, deletes=260, bytes=9_100_000, snapshots=212,
                               fault="compaction due")}
    )  # fmt: skip
    needs = (
        Need(
            severity="act",
            table="orders",
            title="orders: a landing waits for your decision",
            detail="TooManyDeletedError: 4,120 of 5,046 current keys are missing in a full extract "
            "(81 %); at most 20 % may be deleted at once",
            commands=(
                "lakekit landings orders 20261128_060000 --environment dev",
                'lakekit approve orders 20261128_060000 --reason "…" --environment dev',
                'lakekit reject orders 20261128_060000 --reason "…" --environment dev',
            ),
        ),
        Need(
            severity="act",
            title="2 files of the inbox could not be routed",
            detail="They are in the queue of dead letters.",
            commands=("lakekit runs --environment dev",),
        ),
        Need(severity="act", table="customers", title="customers: nothing was loaded for 3 days",
             detail="Its schedule was to load it twice since."),
        Need(severity="look", title="payments: compaction is due",
             detail="260 delete files for 214 data files."),
    )  # fmt: skip
    failed = PageRun(
        run_id="load-20261128-0600-4f2a", source="shop_api", outcome="failed",
        started_at=NOW - timedelta(hours=5), seconds=33, cost_usd=0.0149, tables={"orders": None},
        error="TooManyDeletedError",
        cause="orders: 4,120 of 5,046 current keys are missing in a full extract",
    )  # fmt: skip
    return page(*tables, needs=needs, runs=(failed, *runs(tables)))


def hundred() -> Page:
    tables = [table(f"{WORDS[n % 9]}_{WORDS[n // 9 % 9]}_{n}", n, columns=22) for n in range(100)]
    return page(*tables, runs=runs(tables))


def hostile() -> Page:
    """Every text of it would be a tag if it was not escaped."""
    odd = Change(column=HOSTILE, old=HOSTILE, new=HOSTILE)
    one = table("t", 1).model_copy(
        update={
            "name": HOSTILE, "kind": HOSTILE, "description": HOSTILE, "keys": (HOSTILE,),
            "sequence_by": HOSTILE, "partition": (HOSTILE,), "attached": (HOSTILE,),
            "columns": (PageColumn(name=HOSTILE, type=HOSTILE, role="key", description=HOSTILE),),
            "rejects": (Rejects(reason=HOSTILE, count=1, samples=(HOSTILE,)),),
            "lineage": Lineage(source=HOSTILE, address=HOSTILE, views=(HOSTILE,)),
            "files": Files(fault=HOSTILE),
            "snapshots": (Snapshot(at=NOW, operation=HOSTILE, added=1, rows=1, runs=(HOSTILE,)),),
            "histories": (
                KeyHistory(key=HOSTILE, count=1, versions=(
                    Version(valid_from=NOW, valid_to=None, changes=(odd,)),)),
            ),
        }
    )  # fmt: skip
    run = PageRun(run_id=HOSTILE, source=HOSTILE, outcome=HOSTILE, started_at=NOW, error=HOSTILE,
                  cause=HOSTILE, tables={HOSTILE: None})  # fmt: skip
    need = Need(severity="act", title=HOSTILE, detail=HOSTILE, commands=(HOSTILE,), table=HOSTILE)
    given = {"place": HOSTILE, "option": HOSTILE, "notes": (HOSTILE,)}
    return page(one, needs=(need,), runs=(run,), **given)


def table(name: str, seed: int, columns: int = 9) -> PageTable:
    chance = random.Random(seed)
    current = int(math.exp(chance.uniform(5, 14)))
    loads = [Load(at=NOW - timedelta(days=30), opened=current, records=current)]
    for day in range(29, 0, -1):
        moved = int(current * chance.uniform(0.001, 0.04))
        loads.append(
            Load(
                at=NOW - timedelta(days=day), opened=moved, closed=int(moved * 0.8),
                quarantined=chance.choice((0, 0, 0, 0, 0, 3)), records=current,
            )
        )  # fmt: skip
    return PageTable(
        name=name, kind="scd2", description=f"The {name.replace('_', ' ')} of the shop, as it "
        "names them itself", keys=("id",), sequence_by="updated_at", partition=("_is_current",),
        rows=sum(each.opened for each in loads), current=current,
        loaded_at=NOW - timedelta(minutes=chance.randint(5, 600)), loads=tuple(loads),
        files=Files(data=chance.randint(1, 40), deletes=chance.randint(0, 12),
                    bytes=current * 120, snapshots=30),
        columns=tuple(column(n, chance, current) for n in range(columns)),
        snapshots=tuple(
            Snapshot(at=each.at, operation="replace" if n % 11 == 7 else "overwrite",
                     added=each.opened, rows=current, runs=() if n % 11 == 7 else (f"run-{n}",))
            for n, each in enumerate(loads)
        ),
        histories=tuple(key_history(n, chance) for n in range(2)),
        rejects=(
            Rejects(reason="amount: '12,50' is no decimal(18,2)", count=12, newest=NOW,
                    samples=('{"id": 81, "amount": "12,50"}', '{"id": 97, "amount": "3,10"}')),
            Rejects(reason="id: null", count=3, samples=('{"id": null, "amount": "4.00"}',)),
        ) if seed % 3 == 0 else (),
        attached=(f"{name}_journal", f"{name}_quarantine"),
        lineage=Lineage(source="shop_api", address=f"GET https://api.example.com/v1/{name}",
                        views=(f"{name}_current",) if seed % 2 == 0 else ()),
    )  # fmt: skip


def column(number: int, chance: random.Random, current: int) -> PageColumn:
    name = "id" if number == 0 else f"{WORDS[number % 9]}_{number}"
    return PageColumn(
        name=name, type=TYPES[number % 6], role="key" if number == 0 else "tracked",
        description=f"What the API calls {name}" if number % 3 else "",
        nulls=0 if number < 3 else chance.randint(0, current), changes=chance.randint(0, 9999),
        changed_at=NOW - timedelta(days=chance.randint(0, 90)),
        added_at=NOW - timedelta(days=40) if number == 7 else None,
    )  # fmt: skip


def key_history(number: int, chance: random.Random) -> KeyHistory:
    times = sorted(NOW - timedelta(days=chance.randint(1, 700)) for _ in range(5))
    ends = [*times[1:], None]
    versions = tuple(
        Version(
            valid_from=begin, valid_to=end,
            changes=() if begin == times[0] else (
                Change(column="status", old="open", new="paid"),
                Change(column="amount", old="80.00", new=f"{chance.randint(1, 99)}.00"),
            ),
        )
        for begin, end in zip(times, ends, strict=True)
    )  # fmt: skip
    return KeyHistory(key=f"id={chance.randint(1, 9999)}", count=5, versions=versions)


def runs(tables: list[PageTable]) -> tuple[PageRun, ...]:
    return tuple(
        PageRun(
            run_id=f"load-202611{28 - n:02d}-0600-{n:04x}", source="shop_api", outcome="done",
            started_at=NOW - timedelta(days=n, hours=6), seconds=86 + n, cost_usd=0.0151,
            tables={each.name: each.loads[-1 - n] for each in tables[:8]},
        )
        for n in range(20)
    )  # fmt: skip
