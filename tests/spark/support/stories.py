"""Stories of published bugs: the records of one key in each run, and the right versions.

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
from tests.spark.support.landed import land
from tests.spark.support.people import people


def sequenced(**options: Any) -> Contract:
    """The contract of records that have their own time, and may delete their key."""
    deletes = {"except_columns": ["op"], "apply_as_deletes": "op = 'D'"}
    return people(columns={"op": "string"}, sequence_by="at", **deletes, **options)


Row = tuple[str | None, str | None, int, int | None]


class Story(NamedTuple):
    """The records of one key in each run, and the versions at the end: name, city, from, to."""

    name: str
    runs: list[list[dict[str, Any]]]
    versions: list[Row]


def at(day: int | None, name: str | None, op: str = "U") -> dict[str, Any]:
    """A record of a day of January."""
    return {"name": name, "op": op, "at": day and f"2026-01-{day:02}T00:00:00Z"}


def merge_stories(
    spark: SparkSession,
    folder: Path,
    stories: list[Story],
    contract: Contract,
    extract: Any,
    first_day: int,
) -> dict[str, list[Row]]:
    """Merge all stories into one table; a key whose story is over stays as it is."""
    table = f"lake.local.{extract}_{first_day}"
    for number, records_of_run in enumerate(zip_longest(*(story.runs for story in stories))):
        said: list[dict[str, Any]] = []
        for key, (story, records) in enumerate(zip(stories, records_of_run, strict=True)):
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
