"""The sets behind the commands: each sweep is whole, and the model checks some workload."""

from dataclasses import replace

import pytest

from benchmarks.workloads import MODEL_LIMIT, full, quick, shape


@pytest.mark.parametrize("found", [quick(), full()])
def test_every_set_holds_a_workload_that_the_model_can_check(found):
    assert any(load.keys <= MODEL_LIMIT and load.changed for load in found)


@pytest.mark.parametrize("extract", ["full", "incremental"])
def test_the_sweep_over_shares_has_all_of_them_at_one_size(extract):
    found = full(2_000_000)

    for share in (0.0, 0.0001, 0.001, 0.01, 0.1, 1.0):
        assert shape(500_000, 4, share, extract) in found


def test_the_sweep_over_key_types_has_all_of_them_at_one_size():
    one = shape(500_000, 4, 0.01, "full")

    for kind in ("bigint", "string", "composite"):
        assert full(2_000_000).count(replace(one, key_type=kind)) == 1


@pytest.mark.parametrize("extract", ["full", "incremental"])
def test_a_sequence_is_measured_with_the_same_workload_without_one(extract):
    one = shape(500_000, 4, 0.01, extract)

    assert {one, replace(one, sequence=True)} <= set(full(2_000_000))
