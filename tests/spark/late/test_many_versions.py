"""Keys with thousands of versions: the work grows in step with them."""

import pytest

from benchmarks.hot_key import merge_all, mostly_one_key, one_key


@pytest.mark.long
def test_four_times_the_versions_of_a_key_are_not_sixteen_times_the_work(spark, tmp_path):
    few, many = (
        merge_all(spark, tmp_path, f"versions_{size}", one_key(size)) for size in (4000, 16_000)
    )

    assert few["correct"] and many["correct"]
    for run, work in many["work"].items():
        assert work < 8 * few["work"][run]


@pytest.mark.long
def test_batches_mostly_of_one_key_are_merged_on_nothing_after_it_and_within_it(spark, tmp_path):
    assert merge_all(spark, tmp_path, "mostly_one_key", mostly_one_key(4000))["correct"]
