import pytest

from lakekit import layout
from lakekit.errors import NewerDocumentError
from lakekit.runs.documents import LandingVerdict, Verdicts, read_document
from lakekit.runs.validate_landing import validate_landing
from lakekit.steps.functions import ValidateLanding, ValidateLandingResult
from tests.fakes import MemoryObjectStore
from tests.unit.runs.kit import begun, claimed, contract, landed


@pytest.fixture
def store() -> MemoryObjectStore:
    store = MemoryObjectStore()
    begun(store, contract("orders"), contract("clients"))
    return store


def validate(store: MemoryObjectStore, *manifests: str) -> dict[str, LandingVerdict]:
    """Validate every share and return the verdicts by manifest."""
    claim = claimed(store, *manifests)
    found = {}
    for share in range(claim.shares):
        validate_landing(ValidateLanding(run_id="r", source="shop", share=share), store)
        document = read_document(store, layout.verdicts_key("r", share), Verdicts)
        found |= {each.manifest: each for each in document.landings}
    return found


def test_every_landing_has_one_verdict(store: MemoryObjectStore) -> None:
    keys = [landed(store, {"id": 1}, hour=hour) for hour in range(24)]
    more = [landed(store, {"id": 1}, hour=hour, endpoint="clients") for hour in range(24)]

    assert sorted(validate(store, *keys, *more)) == sorted([*keys, *more])


def test_writes_what_it_found_with_the_drift(store: MemoryObjectStore) -> None:
    key = landed(store, {"id": 1, "colour": "red"})

    verdict = validate(store, key)[key].verdict

    assert verdict
    assert (verdict.unknown_fields, verdict.absent_fields) == (("colour",), ("price",))


def test_counts_what_it_found(store: MemoryObjectStore) -> None:
    claimed(store, landed(store, {"id": None}))

    result = validate_landing(ValidateLanding(run_id="r", source="shop", share=0), store)

    assert result == ValidateLandingResult(good=0, refused=1)


def test_a_corrupt_landing_stops_no_other(store: MemoryObjectStore) -> None:
    bad, good = landed(store, {"id": 1}), landed(store, {"id": 1}, endpoint="clients")
    store.put(layout.part_key(layout.prefix_of(bad), 0), b"x")

    found = validate(store, bad, good)

    assert found[bad].error == "LandingCorruptError"
    assert "broken gzip" in found[bad].cause
    assert found[good].good


def test_a_manifest_that_is_none_or_of_another_landing_is_refused(
    store: MemoryObjectStore,
) -> None:
    broken, foreign = landed(store, {"id": 1}, hour=8), landed(store, {"id": 1}, hour=9)
    store.put(broken, b"nonsense")
    store.put(foreign, store.get(landed(store, {"id": 1}, endpoint="clients")))

    found = validate(store, broken, foreign)

    assert {each.error for each in found.values()} == {"LandingCorruptError"}
    assert "which is of another landing" in found[foreign].cause


def test_a_manifest_of_a_newer_release_is_not_held_against_its_landing(
    store: MemoryObjectStore,
) -> None:
    key = landed(store, {"id": 1})
    store.put(key, store.get(key).replace(b'"schema_version": 1', b'"schema_version": 2'))

    with pytest.raises(NewerDocumentError, match="has schema_version 2"):
        validate(store, key)


def test_records_that_break_the_contract_pass_up_to_its_ratio(store: MemoryObjectStore) -> None:
    key = landed(store, {"id": 1}, b"nonsense")

    assert validate(store, key)[key].good


def test_too_many_bad_records_refuse_their_landing_until_a_person_approves_it(
    store: MemoryObjectStore,
) -> None:
    key = landed(store, {"id": None}, b"nonsense", {"id": 1})
    assert validate(store, key)[key].error == "TooManyRejectedError"

    store.put(layout.approved_key(layout.prefix_of(key)), b"{}")

    assert validate(store, key)[key].good


def test_a_landing_that_no_contract_knows_any_more_is_refused(store: MemoryObjectStore) -> None:
    unknown = landed(store, {"id": 1}, endpoint="unknown")

    assert validate(store, unknown)[unknown].error == "UnknownSourceError"


@pytest.mark.parametrize("marker", [layout.complete_key, layout.rejected_key])
def test_a_landing_that_is_complete_or_rejected_is_decided(
    store: MemoryObjectStore, marker: object
) -> None:
    key = landed(store, b"nonsense")
    store.put(marker(layout.prefix_of(key)), b"")  # type: ignore[operator]

    assert validate(store, key)[key] == LandingVerdict(manifest=key, decided=True)
