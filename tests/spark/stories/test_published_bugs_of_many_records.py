"""Published bugs of runs of many records, or of wide ones: two runs and their costs."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from pyspark.sql import DataFrame

from lakekit.batch import Batch, MergeResult
from lakekit.spark.merge_scd2 import merge_scd2
from tests.spark.support.people import people
from tests.spark.support.seams import tune


class Many(NamedTuple):
    """A second run of many records: its folder, result, MERGEs, and how many rows Python got."""

    folder: Path
    done: MergeResult
    merges: list[str]
    got: list[int]


@pytest.fixture(scope="module")
def many(spark, tmp_path_factory) -> Many:
    """A thousand records with lists and maps; every second one has changed in a list."""
    nested = {"tags": "array<string>", "marks": "map<string,int>"}
    contract = people(columns={"city": None, **nested})
    folder, merges, got = tmp_path_factory.mktemp("many"), [], []
    sql, collect = type(spark).sql, DataFrame.collect

    def run(self, text, *arguments, **options):
        merges.extend([text] if text.startswith("MERGE INTO") else [])
        return sql(self, text, *arguments, **options)

    def collected(self):
        rows = collect(self)
        got.append(len(rows))
        return rows

    with pytest.MonkeyPatch.context() as patch:
        tune(patch, few_bytes=-1)
        patch.setattr(type(spark), "sql", run)
        patch.setattr(DataFrame, "collect", collected)
        for day in (1, 2):
            merges.clear(), got.clear()
            file = folder / f"{day}.ndjson"
            marks = dict(sorted({"a": 1, "b": 2}.items(), reverse=day == 2))
            tags = [["x"] * 20 + [str(day if number % 2 else 0)] for number in range(1000)]
            file.write_text("".join(
                json.dumps({"id": number, "tags": each, "marks": marks}) + "\n"
                for number, each in enumerate(tags)
            ))  # fmt: skip
            batch = Batch(
                run_id=f"run-{day}",
                extract="full",
                extraction_time=datetime(2026, 1, day, tzinfo=UTC),
                files=(str(file),),
            )
            done = merge_scd2(
                spark, contract, batch, "lake.local.many", staging=(folder / "s").as_uri()
            )
    return Many(folder, done, merges, got)


def test_lists_and_maps_are_in_no_condition_and_no_update_of_a_merge(many):
    """aws-sdk-pandas #3018: a merge whose conditions or updates hold a list does not end."""
    assert (many.done.opened, many.done.closed, many.done.unchanged) == (500, 500, 500)
    assert many.merges
    assert not [text for text in many.merges if "tags" in text or "marks" in text]


def test_records_do_not_pass_through_the_driver_and_no_file_stays_open(many, spark):
    """airbyte #70247: memory grows with the load until it is used up; files are never closed."""
    java = spark._jvm.java.lang.ProcessHandle.current().pid()
    table = Path(spark.conf.get("spark.sql.catalog.lake.warehouse"), "local/many")
    opened = [link.resolve() for link in Path(f"/proc/{java}/fd").glob("*")]

    assert 0 < sum(many.got) < 20
    assert opened
    assert not [file for file in opened if {table, many.folder} & set(file.parents)]
