"""The demo of further sources: the model has what it expects, and it runs to its end."""

import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest

from examples.time_zone_changes.server import changes
from lakekit.cli.demos.sources import FEED_LOADS, FILE_LOADS, Load
from tests.docs.pages import ROOT, read
from tests.model.admission import history
from tests.model.terms import Options, Run

OPTIONS = Options(
    keys=("name",),
    sequence_by="released_at",
    apply_as_deletes=lambda record: record["deleted"],
    except_columns=("deleted",),
)
NO_VALUES = dict.fromkeys(("countries", "coordinates", "comments"))


def asked_for(load: Load) -> list[dict[str, Any]]:
    """Return the changes that the run of a load gets."""
    return [
        NO_VALUES | change
        for release, _, change in changes()
        if release <= load.title and change["released_at"] >= load.asks
    ]


def test_the_model_has_the_table_that_the_demo_expects() -> None:
    runs: list[Run] = []
    for number, load in enumerate(FEED_LOADS, 1):
        runs.append(Run("changes", f"T{number}", asked_for(load)))
        table = history(runs, OPTIONS)
        current = sum(row["_is_current"] for row in table)

        assert (len(table), current) == (load.versions, load.current)


def test_each_run_asks_from_the_newest_change_of_the_one_before_it() -> None:
    for before, load in pairwise(FEED_LOADS):
        assert load.asks == max(change["released_at"] for change in asked_for(before))


def test_the_changes_of_a_run_are_all_counted() -> None:
    for load in FEED_LOADS:
        counted = load.counts["opened"] + load.counts["unchanged"] + load.counts["deletes"]
        assert counted == len(asked_for(load))


@pytest.mark.parametrize("load", [*FEED_LOADS, *FILE_LOADS], ids=lambda load: load.title)
def test_the_pages_of_the_examples_name_what_is_loaded(load: Load) -> None:
    pages = (read(ROOT / f"examples/{name}/README.md") for name in
             ("time_zone_changes", "dms_orders"))  # fmt: skip

    assert any(f"`{load.title}`" in page for page in pages)


@pytest.mark.long
def test_the_demo_runs_to_its_end() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lakekit.cli.demos.sources"],
        cwd=ROOT, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert "All numbers agree" in done.stdout
