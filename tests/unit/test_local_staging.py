"""Change sets beside a local warehouse: those that killed runs left there go, others stay."""

import os
from datetime import timedelta
from pathlib import Path
from time import time

from sandbox.local import tidied_staging


def test_only_what_a_killed_run_left_long_ago_is_removed(tmp_path: Path) -> None:
    ages = {"left": timedelta(days=7, hours=1), "at work": timedelta(days=6, hours=23)}
    for name, age in ages.items():
        folder = tmp_path / ".staging" / name
        folder.mkdir(parents=True)
        (folder / "part-0.parquet").write_bytes(b"rows")
        os.utime(folder, (time() - age.total_seconds(),) * 2)

    address = tidied_staging(tmp_path)

    assert address == (tmp_path / ".staging").as_uri()
    assert [each.name for each in (tmp_path / ".staging").iterdir()] == ["at work"]


def test_a_warehouse_without_change_sets_has_an_address_too(tmp_path: Path) -> None:
    assert tidied_staging(tmp_path / "new") == (tmp_path / "new" / ".staging").as_uri()
