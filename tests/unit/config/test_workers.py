import pytest
from pydantic import ValidationError

from lakekit.config.workers import Jobs, Workers

MB = 1_000_000


@pytest.mark.parametrize(
    ("size", "number"),
    [(0, 3), (1, 3), (300 * MB, 3), (300 * MB + 1, 4), (800 * MB, 8), (10**13, 8)],
)
def test_there_is_one_worker_per_100_mb_between_the_limits(size: int, number: int) -> None:
    assert Jobs(min_workers=3, max_workers=8).workers(size).number == number


def test_type_and_class_are_those_of_the_environment() -> None:
    workers = Jobs(worker_type="G.2X", flex=True).workers(0)

    assert workers == Workers(number=2, type="G.2X", execution_class="FLEX")


def test_limits_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValidationError, match="max_workers is 2, and min_workers 3"):
        Jobs(min_workers=3, max_workers=2)


@pytest.mark.parametrize("wrong", [{"min_workers": 1}, {"max_workers": 300}, {"worker_type": "G"}])
def test_what_glue_does_not_have_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Jobs.model_validate(wrong)
