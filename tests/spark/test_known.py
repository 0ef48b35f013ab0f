"""Records of a large full extract that say what is known lose their content before the shuffle."""

import re

import pytest
from pyspark.sql import functions as F

from lakekit.contract.contract import load_contract
from lakekit.spark.plan import stage
from lakekit.spark.skip import rows as known
from lakekit.spark.skip.lines import read_whole
from tests.spark.people import ANN, BEN, CONTRACT, MOVED

pytestmark = pytest.mark.usefixtures("every_table_is_large")


@pytest.fixture(autouse=True)
def every_line_is_parsed(monkeypatch):
    def read_parsed(merge, _, base):
        return read_whole(merge, base, many=merge.full)

    monkeypatch.setattr(stage, "read_sides", read_parsed)


@pytest.fixture
def readings(monkeypatch):
    """Whether all rows were wanted, for each time that a batch was read."""
    done, real = [], stage._read

    def read(*seen):
        done.append(seen[-1].all_rows)
        return real(*seen)

    monkeypatch.setattr(stage, "_read", read)
    return done


def all_look_known(_contract, _names):
    return F.lit(7).cast("bigint")


def test_what_is_shuffled_has_no_columns_but_those_of_the_join(load, rows, spark, monkeypatch):
    plans, real = [], stage.order.select_staged

    def select_staged(resolved, contract):
        frame = real(resolved, contract)
        mode = spark._jvm.org.apache.spark.sql.execution.ExplainMode.fromString("formatted")
        plans.append(frame._jdf.queryExecution().explainString(mode))
        return frame

    load(1, ANN, BEN)
    monkeypatch.setattr(stage.order, "select_staged", select_staged)
    load(2, {**ANN, "city": "Rome"}, BEN)

    inputs = re.findall(r"\) Exchange\nInput \[\d+\]: \[(.*)\]", plans[0])
    shuffled = [{column.partition("#")[0] for column in each.split(", ")} for each in inputs]
    (records,) = (columns for columns in shuffled if "__content" in columns and "id" in columns)
    assert records.isdisjoint({"name", "city", "_source_file", "__line"})
    assert rows() == MOVED


def test_what_is_not_known_is_read_once(load, rows, readings):
    load(1, ANN, BEN)
    load(2, {**ANN, "city": "Rome"}, BEN)

    assert readings == [False, False]
    assert rows() == MOVED


def test_a_change_with_the_bits_of_something_known_is_read_again(load, rows, readings, monkeypatch):
    load(1, ANN, BEN)
    monkeypatch.setattr(known, "_bits", all_look_known)

    done = load(2, {**ANN, "city": "Rome"}, BEN)

    assert readings == [False, False, True]
    assert (done.opened, done.unchanged) == (1, 1)
    assert rows() == MOVED


def test_without_a_look_at_what_lost_its_content_a_change_comes_as_nulls(load, rows, monkeypatch):
    load(1, ANN, BEN)
    monkeypatch.setattr(known, "_bits", all_look_known)
    monkeypatch.setattr(known, "unlike", lambda _: F.count(F.when(F.lit(False), 1)).alias("unlike"))

    load(2, {**ANN, "city": "Rome"}, BEN)

    assert (1, None, None, 2, None, True) in rows()


def test_a_rejected_record_of_a_known_key_is_quarantined(load):
    priced = load_contract(CONTRACT.replace("city, type: string", 'city, type: "decimal(4,2)"'))
    load(1, {"id": 1, "city": 1}, {"id": 2, "city": 2}, promise=priced)

    done = load(2, {"id": 1, "city": 1}, {"id": 2, "city": 2.001}, promise=priced)

    assert (done.unchanged, done.quarantined, done.committed) == (1, 1, False)
