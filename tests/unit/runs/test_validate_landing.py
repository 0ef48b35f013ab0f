import pytest

from lakekit import layout
from lakekit.errors import LandingCorruptError, TooManyRejectedError
from lakekit.runs.documents import EndpointVerdicts, FailureRecord, read_document
from lakekit.runs.validate_landing import validate_landing
from lakekit.steps.functions import ExtractPagesResult, ValidateLanding, ValidateLandingResult
from tests.fakes import ManualClock, MemoryObjectStore
from tests.unit.runs.kit import NOON, begun, contract, landed


@pytest.fixture
def store() -> MemoryObjectStore:
    store = MemoryObjectStore()
    begun(store, contract("orders"), contract("clients"))
    return store


def validate(
    store: MemoryObjectStore, *pending: str, extracted: str | None = None
) -> ValidateLandingResult:
    results = (ExtractPagesResult(endpoint="orders", done=True, manifest=extracted),)
    step = ValidateLanding(
        run_id="r", source="shop", started_at=NOON, pending=pending, extracted=results
    )
    return validate_landing(step, store, ManualClock())


def test_orders_landings_by_extraction_time_and_names_each_once(store: MemoryObjectStore) -> None:
    late, early = landed(store, {"id": 1}, hour=9), landed(store, {"id": 1}, hour=8)

    assert validate(store, late, early, extracted=late).manifests == (early, late)


def test_an_endpoint_that_failed_brings_nothing(store: MemoryObjectStore) -> None:
    assert validate(store) == ValidateLandingResult(manifests=())


def test_writes_what_it_found_with_the_drift(store: MemoryObjectStore) -> None:
    key = landed(store, {"id": 1, "colour": "red"})

    validate(store, key)

    found = read_document(store, "runs/r/results/validate_landing/orders.json", EndpointVerdicts)
    verdict = found.landings[0].verdict
    assert verdict
    assert (verdict.unknown_fields, verdict.absent_fields) == (("colour",), ("price",))


def test_keeps_the_verdicts_of_all_landings_of_an_endpoint(store: MemoryObjectStore) -> None:
    keys = [landed(store, {"id": 1}, hour=hour) for hour in (8, 9)]

    validate(store, *keys)

    found = read_document(store, "runs/r/results/validate_landing/orders.json", EndpointVerdicts)
    assert [each.manifest for each in found.landings] == keys


def test_a_corrupt_landing_is_recorded_and_stops_no_other(store: MemoryObjectStore) -> None:
    bad, good = landed(store, {"id": 1}), landed(store, {"id": 1}, endpoint="clients")
    store.put(layout.part_key(layout.prefix_of(bad), 0), b"x")

    result = validate(store, bad, good)

    assert result.manifests == (good,)
    assert result.rejected == {bad: "LandingCorruptError"}
    failure = read_document(store, "runs/r/failure-orders.json", FailureRecord)
    assert failure.error == "LandingCorruptError"


def test_records_that_break_the_contract_pass_up_to_its_ratio(store: MemoryObjectStore) -> None:
    key = landed(store, {"id": 1}, b"nonsense")

    assert validate(store, key).manifests == (key,)


def test_too_many_bad_records_reject_their_landing(store: MemoryObjectStore) -> None:
    bad = landed(store, {"id": None}, b"nonsense", {"id": 1})
    good = landed(store, {"id": 1}, endpoint="clients")

    assert validate(store, bad, good).rejected == {bad: "TooManyRejectedError"}


@pytest.mark.parametrize("broken", [True, False])
def test_the_first_error_is_raised_when_nothing_else_is_left(
    store: MemoryObjectStore, broken: bool
) -> None:
    key = landed(store, b"nonsense")
    if broken:
        store.put(key, b"nonsense")

    with pytest.raises(LandingCorruptError if broken else TooManyRejectedError):
        validate(store, key)


def test_a_landing_that_no_contract_knows_any_more_is_rejected(store: MemoryObjectStore) -> None:
    unknown, good = landed(store, {"id": 1}, endpoint="unknown"), landed(store, {"id": 1})

    assert validate(store, unknown, good).rejected == {unknown: "UnknownSourceError"}
