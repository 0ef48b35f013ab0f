"""Plots: what is drawn, by the objects of matplotlib."""

import matplotlib
import pytest

from lakekit import Warehouse
from lakekit.errors import InvalidStepInputError
from lakekit.warehouse import rows as rows_module
from lakekit.warehouse.plots import Bar, bars, plot_runs
from tests.warehouses import FIRST, SECOND, THIRD

matplotlib.use("Agg")


def test_the_history_of_a_key_is_a_line_of_bars_for_each_column_that_changed(
    warehouse: Warehouse,
) -> None:
    axes = warehouse.table("airports").plot_history("EHAM")

    assert axes.get_title() == "airports: icao=EHAM"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["name"]
    assert [text.get_text() for text in axes.texts] == ["Schiphol", "Amsterdam Schiphol"]


def test_columns_can_be_chosen_and_a_history_may_have_ended(warehouse: Warehouse) -> None:
    axes = warehouse.table("airports").plot_history("WIOS", ["name", "fee"])

    assert [label.get_text() for label in axes.get_yticklabels()] == ["name", "fee"]
    assert [text.get_text() for text in axes.texts] == ["Susilo", ""]


def test_equal_values_of_versions_in_a_row_are_one_bar() -> None:
    versions = [
        {"a": 1, "_valid_from": FIRST, "_valid_to": SECOND},
        {"a": 1, "_valid_from": SECOND, "_valid_to": THIRD},
        {"a": 2, "_valid_from": THIRD, "_valid_to": None},
    ]

    assert bars(versions, "a") == [Bar(1, FIRST, THIRD), Bar(2, THIRD, None)]
    assert len(bars([versions[0], versions[2]], "a")) == 2


def test_runs_are_groups_of_bars(warehouse: Warehouse) -> None:
    axes = warehouse.table("airports").plot_runs()

    heights = [[bar.get_height() for bar in each] for each in axes.containers]
    assert heights == [[2, 1, 1], [0, 1, 1], [0, 2, 0]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "opened", "closed", "quarantined",
    ]  # fmt: skip


def test_without_matplotlib_the_line_that_installs_it_is_named(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError(name="matplotlib")

    runs = warehouse.table("airports").runs()
    monkeypatch.setattr(rows_module, "import_module", absent)

    with pytest.raises(InvalidStepInputError) as error:
        plot_runs("airports", runs, None)
    assert str(error.value) == "matplotlib is not installed; pip install 'lakekit[plot]'"
