"""The checker says which tables are right, and how a wrong one is wrong."""

import pytest

from benchmarks.check import check, expected
from benchmarks.generator import build, connect
from benchmarks.workloads import Workload


@pytest.fixture
def data(tmp_path):
    return build(Workload(keys=200, history=1, changed=0.1, runs=1), tmp_path / "data")


def _table(data, folder, wish="SELECT * FROM expected"):
    """Write a table as a contestant would, made from the expected one by a query."""
    folder.mkdir()
    with connect() as db:
        db.execute(f"CREATE VIEW expected AS {expected(data)}")
        db.execute(f"COPY ({wish}) TO '{folder}/part.parquet'")
    return folder


def test_the_expected_table_is_correct_whatever_the_order_of_its_rows(data, tmp_path):
    found = check(data, _table(data, tmp_path / "t", "FROM expected ORDER BY net_worth"))

    assert found.correct
    assert found.rows > 400


def test_a_lost_row_is_missing(data, tmp_path):
    found = check(data, _table(data, tmp_path / "t", "FROM expected ORDER BY ALL OFFSET 1"))

    assert (found.correct, found.missing, found.unexpected) == (False, 1, 0)


def test_a_doubled_row_is_unexpected(data, tmp_path):
    twice = "FROM expected UNION ALL (FROM expected ORDER BY ALL LIMIT 1)"

    found = check(data, _table(data, tmp_path / "t", twice))

    assert (found.correct, found.missing, found.unexpected) == (False, 0, 1)


def test_a_null_in_place_of_a_value_is_named_by_its_column(data, tmp_path):
    nulled = "SELECT * REPLACE (if(customer_id = 7, NULL, city) AS city) FROM expected"

    found = check(data, _table(data, tmp_path / "t", nulled))

    assert not found.correct
    assert set(found.columns) == {"city"}


def test_an_open_end_in_place_of_a_closed_one_is_wrong(data, tmp_path):
    late = "SELECT * REPLACE (valid_to + INTERVAL 1 MICROSECOND AS valid_to) FROM expected"

    found = check(data, _table(data, tmp_path / "t", late))

    assert not found.correct
    assert set(found.columns) == {"valid_to"}
