"""A local warehouse: one that cannot be opened, and change sets that killed runs left."""

import os
from datetime import timedelta
from pathlib import Path
from time import time

import pytest

from lakekit.errors import InvalidStepInputError
from lakekit.local.warehouse import opened, staging_of, tidy_staging
from lakekit.spark.session.staging import staging_of_run


def test_only_what_a_killed_run_left_long_ago_is_removed(tmp_path: Path) -> None:
    staging = tmp_path / ".staging"
    old, young = timedelta(days=7, hours=1), timedelta(days=6, hours=23)
    # When the folder of each was made, and its file.
    left = {
        staging_of_run(str(staging), "killed"): (old, old),
        staging_of_run(str(staging), "new"): (young, young),
        staging_of_run(str(staging), "long at work"): (old, young),
        str(staging / "of another tool"): (old, old),
    }
    for place, ages in left.items():
        folder = Path(place)
        folder.mkdir(parents=True)
        file = folder / "part-0.parquet"
        file.write_bytes(b"rows")
        for path, age in zip((folder, file), ages, strict=True):
            os.utime(path, (time() - age.total_seconds(),) * 2)

    tidy_staging(tmp_path)

    assert {str(each) for each in staging.iterdir()} == {*left} - {next(iter(left))}


def test_each_process_of_a_run_has_a_change_set_of_its_own() -> None:
    assert staging_of_run("file:/w/.staging", "run") != staging_of_run("file:/w/.staging", "run")


def test_a_warehouse_without_change_sets_stays_as_it_is(tmp_path: Path) -> None:
    tidy_staging(tmp_path / "new")

    assert not (tmp_path / "new").exists()
    assert staging_of(tmp_path / "new") == (tmp_path / "new" / ".staging").as_uri()


@pytest.mark.parametrize("make", [True, False])
def test_a_warehouse_that_cannot_be_is_refused_in_one_line(tmp_path: Path, make: bool) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "catalog.db").write_text("no database" * 100)
    places = {
        file: "is a file; a warehouse is a folder",
        tmp_path / "other": "no warehouse can be here: file is not a database",
        file / "below": (
            "no warehouse can be here: Not a directory" if make else "no warehouse here; "
        ),
    }

    for place, reason in places.items():
        with pytest.raises(InvalidStepInputError) as refused, opened(place, make=make):
            pass
        assert str(refused.value).startswith(f"{place}: {reason}")
        assert "\n" not in str(refused.value)
