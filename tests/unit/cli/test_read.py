"""What the readers show: changes as old → new, technical columns only if asked for."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lakekit.cli.main import app
from lakekit.cli.read import views
from lakekit.duckdb import overview
from lakekit.duckdb.reader import Answer, Counts
from lakekit.duckdb.tables import Table, refuse_unknown
from lakekit.errors import InvalidStepInputError

FIRST, LAST = datetime(2026, 1, 1), datetime(2026, 1, 3)
COLUMNS = ["_change", "_changed_at", "id", "name", "tags", "_row_hash", "_valid_from", "_old"]


def changes(*rows: tuple[Any, ...], every: bool = False) -> list[tuple[Any, ...]]:
    columns, shown = views.changes(Answer(COLUMNS, iter(rows)), ["id"], every=every)
    assert columns == ("_change", "_changed_at", "id", "_changes")
    return [tuple(row) for row in shown]


def old(**values: Any) -> dict[str, Any]:
    return {"id": 1, "name": "ann", "tags": None, "_row_hash": 5, "_valid_from": FIRST} | values


def test_an_update_shows_what_differs() -> None:
    nan = float("nan")
    rows = [
        ("updated", LAST, 1, "anna", None, 6, LAST, old()),
        ("updated", LAST, 1, None, {"k": nan}, 6, LAST, old(tags={"k": nan})),
    ]

    assert [row[3] for row in changes(*rows)] == [
        {"name": {"old": "ann", "new": "anna"}},
        {"name": {"old": "ann", "new": None}},
    ]
    assert changes(rows[0], every=True)[0][3]["_row_hash"] == {"old": 5, "new": 6}


def test_an_insertion_is_new_and_a_deletion_old_but_for_nulls() -> None:
    rows = [
        ("inserted", LAST, 1, "anna", None, 6, LAST, None),
        ("deleted", LAST, 1, "anna", [1], 6, LAST, None),
    ]

    assert changes(*rows) == [
        ("inserted", LAST, 1, {"name": {"new": "anna"}}),
        ("deleted", LAST, 1, {"name": {"old": "anna"}, "tags": {"old": [1]}}),
    ]


def test_versions_begin_with_their_validity_and_hide_technical_columns() -> None:
    row = ("a", "f", True, FIRST, None, False)
    names = ["icao", "_source_file", "_is_current", "_valid_from", "_valid_to", "_is_deleted"]

    columns, shown = views.versions(Answer(names, iter([row])), every=False)
    with_all, _ = views.versions(Answer(names, iter([row])), every=True)

    assert columns == ["_valid_from", "_valid_to", "icao", "_is_deleted"]
    assert [*shown] == [(FIRST, None, "a", False)]
    assert set(with_all) == set(names)


TABLE = Table(
    "people", "somewhere",
    {
        "current-schema-id": 1,
        "schemas": [
            {"schema-id": 0, "fields": []},
            {"schema-id": 1, "fields": [
                {"id": 1, "name": "ID", "type": "int", "doc": "Number"},
                {"id": 2, "name": "at", "type": "timestamptz"},
                {"id": 3, "name": "name", "type": "string"},
                {"id": 4, "name": "_row_hash", "type": "long"},
                {"id": 5, "name": "_valid_from", "type": "timestamp"},
            ]},
        ],
        "default-spec-id": 0,
        "partition-specs": [
            {"spec-id": 0, "fields": [{"source-id": 1, "transform": "bucket[4]", "name": "b"}]}
        ],
        "current-snapshot-id": 7,
        "snapshots": [{"snapshot-id": 7, "timestamp-ms": 1_767_312_000_500}],
        "properties": {
            "comment": "All people",
            "lakekit.contract": '{"version": 1, "mode": "scd2", "keys": ["id"], '
            '"sequence_by": "at", "deletes": "close", "ignore_null_updates": false}',
            "lakekit.tracked": '{"name": "string"}',
        },
    },
)  # fmt: skip


def test_a_table_is_described_by_its_columns_and_their_roles() -> None:
    columns, rows = overview.described(TABLE, every=False)

    assert columns == ("column", "type", "role", "description")
    assert [*rows] == [
        ("ID", "int", "key", "Number"),
        ("at", "timestamp", "sequence", None),
        ("name", "string", "tracked", None),
        ("_valid_from", "timestamp_ntz", "control", None),
    ]
    assert len([*overview.described(TABLE, every=True)[1]]) == 5


def test_a_table_is_summed_up_in_lines() -> None:
    assert overview.summary(TABLE, Counts(1_200, 30)).splitlines() == [
        "people: scd2",
        "All people",
        "key: ID",
        "rows: 1,200, 30 of them current",
        "partitioned by: bucket(4, ID)",
        "committed at: 2026-01-02T00:00:00",
    ]


def test_tables_are_listed_with_their_rows() -> None:
    _, rows = overview.listed([TABLE], [Counts(3, None)])

    assert [*rows] == [("people", "scd2", 3, None, datetime(2026, 1, 2))]


@pytest.mark.parametrize(
    ("known", "fault"),
    [
        ([], "no table 'peopel'; there are none yet"),
        (["people"], "no table 'peopel'; did you mean people? there is people"),
        (["a", "b"], "no table 'peopel'; there are a, b"),
        ([f"t{n}" for n in range(25)], "t18, t19 and 5 more"),
    ],
)
def test_an_unknown_table_names_those_that_there_are(known: list[str], fault: str) -> None:
    with pytest.raises(InvalidStepInputError) as error:
        refuse_unknown(["peopel"], known)

    assert str(error.value).endswith(fault)


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_both_engines_read_the_warehouse_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    (tmp_path / "config/environments").mkdir(parents=True)
    (tmp_path / "config/environments/base.yaml").write_text("{}\n")
    monkeypatch.chdir(tmp_path)

    failed = CliRunner().invoke(app, ["sql", "SELECT 1", "--engine", engine]).exception

    assert str(failed).startswith(f"{tmp_path / 'warehouse'}: no warehouse here; `lakekit run`")
