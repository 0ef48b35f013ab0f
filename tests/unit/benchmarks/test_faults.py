"""Which outcomes of a benchmark are faults of Lakekit, and which are results."""

import pytest

from benchmarks.others import is_spread
from benchmarks.summary import faults, summarise
from tests.unit.benchmarks.kit import MODEL, contestant, measurement, summary


def test_a_right_benchmark_has_no_faults():
    part = summarise(measurement(lakekit=contestant(9, 2), floor=contestant(9, 1)))
    others = {"small": {"wrong": []}, "cluster": {"correct": True}, "layouts": {}}

    assert faults(summary({**part, MODEL: True}, **others)) == []


def test_the_faults_of_peers_are_results():
    part = summarise(
        measurement(
            lakekit=contestant(9, 2),
            sqlmesh=contestant(9, 2, correct=False),
            dbt={"runs": [], "error": "run: no answer"},
            mack={"absent": "its packages cannot be installed"},
        )
    )

    assert faults(summary(part)) == []


@pytest.mark.parametrize(
    ("lakekit", "why"),
    [
        (contestant(9, 2, correct=False), "w: lakekit's table is wrong"),
        ({"runs": [], "error": "run: out of memory\nat"}, "w: lakekit failed: run: out of memory"),
    ],
)
def test_a_wrong_table_of_lakekit_or_none_is_a_fault(lakekit, why):
    assert faults(summary(summarise(measurement(lakekit=lakekit)))) == [why]


def test_an_expectation_that_the_model_does_not_share_is_a_fault():
    part = summarise(measurement(lakekit=contestant(9, 2)))

    assert faults(summary({**part, MODEL: False})) == ["w: the expected table is not the model's"]


@pytest.mark.parametrize("found", [{"wrong": ["one_03"]}, {"correct": False}])
def test_a_wrong_table_apart_from_the_batches_is_a_fault(found):
    assert faults(summary(small=found)) == ["small: lakekit's table is wrong"]


def test_a_measurement_that_failed_is_a_fault():
    failed = {"error": "Traceback ...", "text": "failed; see build/bench/cluster.log"}

    assert faults(summary(cluster=failed)) == ["cluster: failed; see build/bench/cluster.log"]


def test_a_cluster_of_which_one_executor_does_the_work_is_a_fault():
    why = ["cluster: the work is not spread over the executors"]

    assert faults(summary(cluster={"correct": True, "spread": False})) == why


@pytest.mark.parametrize(
    ("busy", "spread"),
    [({"0": 4.0, "1": 3.0}, True), ({"0": 9.0, "1": 1.0}, False), ({"0": 9.0}, False)],
)
def test_work_is_spread_if_each_executor_does_its_share(busy, spread):
    assert is_spread(busy) == spread
