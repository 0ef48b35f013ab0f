"""Review stories."""

import pytest
from lakekit.contracts import load_contract
from lakekit.spark.tables import create_or_evolve
from tests.spark.test_later_columns import grown
from tests.spark.test_semantics_late import TEXT, at, gone, told


def contracts(options="", text=TEXT):
    new = grown(text, "zip").replace("[name]", "[name, zip]")
    return tuple(
        load_contract(t.replace("keys: [id]", f"keys: [id]{options}")) for t in (text, new)
    )


class Story:
    def __init__(self, load, spark, table, tmp_path):
        self.load, self.spark, self.table = load, spark, table


# each: (pre: [(kind, day, recs)], posts: [(kind, day, recs)] , orders)
# A: a presence of a full extract, hidden by "more" in place
# B: presence unheard as only zip differs
# C: told raised by being said again in a settled run
STORIES = {
    "A": (
        [("full", 2, [at(1, "a")]), ("full", 4, [at(1, "a")])],
        {6: ("changes", [at(1, "a", zip="x")]), 7: ("changes", [gone(3)])},
        [(6, 7), (7, 6)],
    ),
    "B": (
        [("full", 2, [at(1, "a")])],
        {
            6: ("full", [at(1, "a", zip="x")]),
            7: ("changes", [at(3, "a", zip="y")]),
            8: ("changes", [gone(4)]),
        },
        [(6, 7, 8), (6, 8, 7)],
    ),
    "C": (
        [("changes", 2, [at(2, "a"), at(9, "b")])],
        {6: ("changes", [at(2, "a"), at(5, "a", zip="x")]), 7: ("changes", [at(7, "c")])},
        [(6, 7), (7, 6)],
    ),
    "D": (
        [("changes", 2, [at(2, "a"), at(5, "b")])],
        {6: ("changes", [at(2, "a"), at(5, "a")]), 7: ("changes", [at(7, "a", zip="x")])},
        [(6, 7), (7, 6)],
    ),
}


@pytest.mark.parametrize("untracked", ["overwrite", "ignore"])
@pytest.mark.parametrize("name", list(STORIES))
def test_orders(load, rows, spark, table, name, untracked):
    import lakekit.spark.scd2

    before, after = contracts(f", untracked: {untracked}")
    pre, posts, orders = STORIES[name]
    seen = {}
    for n, order in enumerate(orders):
        spark.sql(f"DROP TABLE IF EXISTS {table}")
        spark.sql(f"DROP TABLE IF EXISTS {table}_facts")
        for kind, day, recs in pre:
            load(day, *recs, extract=kind, promise=before, run_id=f"{n}-{day}")
        create_or_evolve(spark, after, table)
        for day in order:
            kind, recs = posts[day]
            done = load(day, *recs, extract=kind, promise=after, run_id=f"{n}-{day}")
            total = (
                done.opened
                + done.unchanged
                + done.duplicates
                + done.superseded
                + done.deletes
                + done.quarantined
            )
            print(
                "COUNT",
                name,
                untracked,
                order,
                day,
                total,
                len(recs),
                done.opened,
                done.closed,
                done.restored,
            )
        seen[order] = rows("id, name, zip")
        print("STORY", name, untracked, order, [r[1:] for r in seen[order]])
    assert len({str(v) for v in seen.values()}) == 1
