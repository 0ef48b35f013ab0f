"""Tables from Python: the same answers and errors as the commands give, as Arrow, frames, rows."""

import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from lakekit import Warehouse
from lakekit.errors import InvalidEnvironmentError, InvalidStepInputError, LakekitError
from lakekit.warehouse import rows as rows_module
from lakekit.warehouse.rows import Rows, made
from tests.warehouses import FIRST, SECOND, THIRD

EVER = ("2024-01-01T00:00:00Z", "2027-01-01T00:00:00Z")


def values(rows: Rows, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in columns) for row in rows.dicts()]


def test_tables_are_listed(warehouse: Warehouse) -> None:
    found = warehouse.tables()

    assert values(found, "table", "kind", "rows", "current") == [
        ("airports", "scd2", 4, 2),
        ("airports_quarantine", "quarantine", 2, None),
    ]


def test_rows_now_then_and_of_one_key(warehouse: Warehouse) -> None:
    table = warehouse.table("AIRPORTS")

    assert table.name == "airports"
    assert values(table.current(), "icao", "name") == [
        ("EHAM", "Amsterdam Schiphol"), ("KJFK", "Kennedy"),
    ]  # fmt: skip
    for time in ("2025-01-01T00:00:00Z", datetime(2025, 1, 1, tzinfo=UTC)):
        assert values(table.as_of(time), "icao", "name") == [
            ("EHAM", "Schiphol"), ("WIOS", "Susilo"),
        ]  # fmt: skip
    for key in ("EHAM", {"icao": "EHAM"}):
        assert values(table.history(key), "_valid_from", "_valid_to") == [
            (FIRST, SECOND), (SECOND, None),
        ]  # fmt: skip


def test_changes_have_the_version_before(warehouse: Warehouse) -> None:
    changes = warehouse.table("airports").changes("2025-01-01T00:00:00Z", EVER[1])

    assert values(changes, "_change", "_changed_at", "icao") == [
        ("updated", SECOND, "EHAM"), ("inserted", THIRD, "KJFK"), ("deleted", THIRD, "WIOS"),
    ]  # fmt: skip
    assert changes.dicts()[0]["_old"]["name"] == "Schiphol"


def test_columns_are_described(warehouse: Warehouse) -> None:
    found = values(warehouse.table("airports").describe(), "column", "type", "role", "description")

    assert found[0] == ("icao", "string", "key", "ICAO code")
    assert ("fee", "decimal(9, 2)", "tracked", None) in found


def test_runs_say_what_they_did(warehouse: Warehouse) -> None:
    runs = warehouse.table("airports").runs()

    assert values(runs, "extraction_time", "runs", "opened", "closed", "quarantined") == [
        (FIRST, ["run-1"], 2, 0, 0), (SECOND, ["run-2"], 1, 1, 2), (THIRD, ["run-3"], 1, 1, 0),
    ]  # fmt: skip


def test_a_query_has_the_tables_by_their_names(warehouse: Warehouse) -> None:
    assert warehouse.sql("SELECT count(*) AS n FROM airports").dicts() == [{"n": 4}]


def test_the_same_rows_as_arrow_polars_and_pandas(warehouse: Warehouse) -> None:
    rows = warehouse.table("airports").current()

    assert str(rows.arrow().schema.field("fee").type) == "decimal128(9, 2)"
    assert rows.polars()["icao"].to_list() == ["EHAM", "KJFK"]
    assert rows.polars()["runways"].to_list() == [["09/27"], ["09/27"]]
    assert rows.df()["icao"].tolist() == ["EHAM", "KJFK"]
    assert rows.df()["_row_hash"].dtype == "int64[pyarrow]"
    assert (len(rows), repr(rows)[:20]) == (2, "<2 rows: icao, name,")


def test_columns_of_one_name_are_numbered_where_a_frame_has_each_once(
    warehouse: Warehouse,
) -> None:
    rows = warehouse.sql("SELECT 1 AS a, 2 AS a")

    assert rows.columns == ["a", "a"]
    assert rows.polars().columns == ["a", "a_2"]


def test_a_notebook_shows_rows_and_obeys_none_of_them() -> None:
    rows = made(["a", "b"], [["<b>", Decimal("1.10")], *[["x", None]] * 30])

    assert "<td>&lt;b&gt;</td><td>1.10</td>" in rows._repr_html_()
    assert "the first 20 of 31 rows" in rows._repr_html_()


@pytest.mark.parametrize(
    ("ask", "fault"),
    [
        (lambda w: w.table("airport"), "no table 'airport'; did you mean airports?"),
        (lambda w: w.table("airports").history("XXXX"), "airports: no version of icao=XXXX"),
        (lambda w: w.table("airports").history({"name": "x"}),
         "no key column 'name'; its key is icao"),
        (lambda w: w.table("airports").history({}), "give a value of icao"),
        (lambda w: w.table("airports").as_of("2025-01-01"), "has no time zone"),
        (lambda w: w.table("airports").as_of(FIRST), "has no time zone"),
        (lambda w: w.table("airports").as_of("soon"), "not a time like"),
        (lambda w: w.table("airports").changes(*reversed(EVER)), "give the earlier one first"),
        (lambda w: w.table("airports_quarantine").current(), "no history table"),
        (lambda w: w.table("airports_quarantine").runs(), "no history table"),
        (lambda w: w.sql("SELECT * FROM airport"), "did you mean airports?"),
        (lambda w: w.table("airports").plot_history("EHAM", ["nam"]), "no column 'nam'"),
    ],
)  # fmt: skip
def test_errors_are_those_of_the_commands(warehouse: Warehouse, ask: Any, fault: str) -> None:
    with pytest.raises(LakekitError) as error:
        ask(warehouse)

    assert fault in str(error.value)


def test_places_that_are_not_there_are_named(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InvalidStepInputError, match="no warehouse here"):
        Warehouse(tmp_path / "none").tables()
    with pytest.raises(InvalidStepInputError, match="no sandbox runs here"):
        Warehouse.sandbox().tables()
    with pytest.raises(InvalidStepInputError, match="no project here"):
        Warehouse.environment("dev")
    base = tmp_path / "config/environments/base.yaml"
    base.parent.mkdir(parents=True)
    base.write_text("{}\n")
    with pytest.raises(InvalidEnvironmentError, match="no environment 'dev'"):
        Warehouse.environment("dev")


@pytest.mark.parametrize(
    ("ask", "line"),
    [
        (lambda rows: rows.polars(), "polars is not installed; pip install polars"),
        (lambda rows: rows.df(), "pandas is not installed; pip install pandas"),
    ],
)
def test_a_package_that_is_missing_is_named(monkeypatch, ask: Any, line: str) -> None:
    def absent(name: str) -> Any:
        if name in ("polars", "pandas"):
            raise ModuleNotFoundError(name=name)
        return __import__(name)

    rows = made(["a"], [[1]])
    monkeypatch.setattr(rows_module, "import_module", absent)

    with pytest.raises(InvalidStepInputError) as error:
        ask(rows)

    assert str(error.value) == line


def test_to_import_lakekit_is_cheap() -> None:
    code = "import lakekit, sys; print(len([n for n in sys.modules if n.startswith('lakekit.')]))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    assert found.stdout == b"0\n"
