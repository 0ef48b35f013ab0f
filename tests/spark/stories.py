"""Stories of published bugs: what each run says of one key, and the versions that must come of it.

The stories of one kind of extract share a table, each with a key of its own, so that one merge
carries a step of all of them.
"""

from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from lakekit.batch import Batch
from lakekit.contract.contract import Contract
from lakekit.spark.merge_scd2 import merge_scd2
from tests.spark.landed import land
from tests.spark.people import CONTRACT

SEQUENCED = CONTRACT.replace(
    "  - {name: city, type: string}",
    "  - {name: city, type: string}\n  - {name: op, type: string}\n  - {name: at, type: timestamp}",
).replace(
    "keys: [id]", "keys: [id], sequence_by: at, except_columns: [op], apply_as_deletes: op = 'D'"
)
Row = tuple[str | None, str | None, int, int | None]


class Story(NamedTuple):
    """What each run says of one key, and the versions after the last: name, city, from, to."""

    name: str
    runs: list[list[dict[str, Any]]]
    versions: list[Row]


def at(day: int | None, name: str | None, op: str = "U") -> dict[str, Any]:
    """A record of a day of January."""
    return {"name": name, "op": op, "at": day and f"2026-01-{day:02}T00:00:00Z"}


def tell(
    spark: SparkSession,
    folder: Path,
    stories: list[Story],
    contract: Contract,
    extract: Any,
    first_day: int,
) -> dict[str, list[Row]]:
    """Merge all stories into one table; each key goes on as its last run left it."""
    table = f"lake.local.{extract}_{first_day}"
    for number, told in enumerate(zip_longest(*(story.runs for story in stories))):
        said: list[dict[str, Any]] = []
        for key, (story, records) in enumerate(zip(stories, told, strict=True)):
            # A story that is over: full extracts repeat its last run, changes have no more.
            over = story.runs[-1] if extract == "full" else []
            said += [{"id": key, **r} for r in (over if records is None else records)]
        file = land(folder / f"{number}.ndjson", said)
        batch = Batch(
            run_id=f"run-{number}",
            extract=extract,
            extraction_time=datetime(2026, 1, first_day + number, tzinfo=UTC),
            files=(file,),
        )
        merge_scd2(spark, contract, batch, table, staging=(folder / "s").as_uri())
    found = spark.sql(
        "SELECT id, name, city, day(_valid_from), day(_valid_to), _is_current "
        f"FROM {table} ORDER BY id, _valid_from, _valid_to"
    ).collect()
    assert all(row[5] == (row[4] is None) for row in found)
    return {
        story.name: [tuple(row)[1:5] for row in found if row["id"] == key]
        for key, story in enumerate(stories)
    }


def ids(story: Story) -> str:
    return story.name.replace(" ", "-")
