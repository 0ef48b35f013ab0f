"""Which landings are merged in one pass."""

from datetime import UTC, datetime, timedelta

import pytest

from lakekit.batch import Batch
from lakekit.passes import MOST_BYTES, MOST_LANDINGS, as_pass, is_pass, pass_in, passes
from tests.spark.support.people import people

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ORDERED = people(sequence_by="at")


def batches(*extracts: str, approved: int | None = None) -> list[Batch]:
    return [
        Batch(
            run_id=f"r-{n}", extract=extract, extraction_time=NOON + timedelta(hours=n),
            files=(f"{n}.ndjson",), bytes=10, approved=n == approved,
        )
        for n, extract in enumerate(extracts)
    ]  # fmt: skip


def sizes(contract, found) -> list[int]:
    return [len(each) for each in passes(contract, found)]


@pytest.mark.parametrize(
    "contract",
    [
        people(),
        people(mode="append", keys=[]),
        people(sequence_by="at", mode="scd1"),
        people(sequence_by="at", late_changes="quarantine"),
    ],
    ids=["no sequence", "append", "scd1", "quarantine"],
)
def test_landings_whose_order_is_part_of_the_history_are_merged_alone(contract) -> None:
    assert sizes(contract, batches("incremental", "incremental")) == [1, 1]


def test_consecutive_landings_of_one_kind_are_a_pass_and_full_extracts_are_none() -> None:
    found = batches("changes", "changes", "full", "full", "incremental", "incremental", "changes")

    assert sizes(ORDERED, found) == [2, 1, 1, 2, 1]


def test_a_landing_that_a_person_has_approved_is_judged_alone() -> None:
    assert sizes(ORDERED, batches(*["changes"] * 5, approved=2)) == [2, 1, 2]


def test_a_pass_is_bounded_and_keeps_the_order() -> None:
    found = batches(*["changes"] * (2 * MOST_LANDINGS + 1))

    groups = [*passes(ORDERED, found)]

    assert [len(each) for each in groups] == [MOST_LANDINGS, MOST_LANDINGS, 1]
    assert [each for group in groups for each in group] == found


def test_a_pass_is_bounded_in_bytes_and_has_no_landing_of_unknown_size() -> None:
    sizes_of = (MOST_BYTES // 2, MOST_BYTES // 2, 1, 2 * MOST_BYTES, 1, None, 1, 1)
    found = [
        each.model_copy(update={"bytes": size})
        for each, size in zip(batches(*["changes"] * 8), sizes_of, strict=True)
    ]

    assert sizes(ORDERED, found) == [2, 1, 1, 1, 1, 2]


def test_a_pass_has_the_files_of_its_landings_and_an_id_that_they_alone_decide() -> None:
    found = batches("changes", "changes", "changes")

    together = as_pass(found)

    assert together.files == ("0.ndjson", "1.ndjson", "2.ndjson")
    assert (together.bytes, together.extraction_time) == (30, found[-1].extraction_time)
    assert is_pass(together.run_id)
    assert as_pass(found).run_id == together.run_id != as_pass(found[:2]).run_id


def test_a_snapshot_names_the_pass_that_made_it() -> None:
    assert pass_in({"lakekit.run-id": "pass-1"}) == "pass-1"
    assert pass_in({"lakekit.run-id": "r-1"}) is None
    assert pass_in({}) is None
