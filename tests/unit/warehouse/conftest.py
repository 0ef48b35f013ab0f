"""The small warehouse, made once for all tests of this folder."""

import warnings
from pathlib import Path

import pytest

from lakekit import Warehouse
from tests.warehouses import small_warehouse


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with warnings.catch_warnings():
        # PyIceberg says that the first overwrite deletes nothing.
        warnings.simplefilter("ignore")
        return small_warehouse(tmp_path_factory.mktemp("small") / "warehouse")


@pytest.fixture
def warehouse(folder: Path) -> Warehouse:
    return Warehouse(folder)
