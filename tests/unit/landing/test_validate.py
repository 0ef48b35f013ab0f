import gzip
from datetime import UTC, datetime
from hashlib import sha256

import pytest

from lakekit.contract.contract import Contract, load_contract
from lakekit.errors import LandingCorruptError, SourceShapeError
from lakekit.json_text.lines import LONGEST_LINE
from lakekit.landing import census
from lakekit.landing.validate import validate_landing
from lakekit.landing.writer import LandingWriter, Manifest, Part, Request
from tests.fakes import MemoryObjectStore
from tests.lines import BLANK, NO_RECORDS, RECORDS

PREFIX = "raw/s/e/20260101_000000/"


@pytest.fixture
def contract() -> Contract:
    return load_contract(
        "contract: e\nsource: s\nendpoint: {path: /e}\n"
        "schema: [{name: id, type: bigint}, {name: name, type: string}]\n"
        "history: {keys: [id]}"
    )


def manifest(*parts: Part, form: str = "ndjson") -> Manifest:
    return Manifest.model_validate(
        {
            "run_id": "r", "source": "s", "endpoint": "e", "contract_version": 1,
            "extract": "full", "extraction_time": datetime(2026, 1, 1, tzinfo=UTC),
            "request": Request(url="https://a.org"), "pages": 1, "format": form,
            "rows": sum(part.rows for part in parts), "parts": parts,
        }
    )  # fmt: skip


def landed(store: MemoryObjectStore, *records: bytes) -> Manifest:
    writer = LandingWriter(store, PREFIX)
    writer.write(records)
    return manifest(*writer.flush())


def dropped(store: MemoryObjectStore, key: str, body: bytes, rows: int, form: str) -> Manifest:
    store.put(key, body)
    part = Part(
        key=key, rows=rows, bytes=len(body), sha256=sha256(body).hexdigest(), uncompressed_bytes=0
    )
    return manifest(part, form=form)


def test_counts_unparseable_records_missing_keys_and_drift(contract: Contract) -> None:
    store = MemoryObjectStore()
    landing = landed(
        store,
        b'{"id":1,"x":1e999}',
        b'{"id":null}',
        b'{"y":2}',
        b"[1]",
        b'{"id":',
        b'{"id":"\xff"}',
    )

    result = validate_landing(store, landing, contract)

    assert (result.rows, result.unparseable, result.missing_keys) == (6, 3, 2)
    assert result.unknown_fields == ("x", "y")
    assert result.absent_fields == ("name",)
    assert result.rejected_ratio == pytest.approx(5 / 6)


def test_counts_as_records_what_a_merge_takes_for_records(contract: Contract) -> None:
    store, rows = MemoryObjectStore(), len(RECORDS) + len(NO_RECORDS)
    body = b"\n".join(BLANK + RECORDS + NO_RECORDS)
    landing = dropped(store, "inbox/s/e/a.ndjson", body, rows, "ndjson")

    result = validate_landing(store, landing, contract)

    assert (result.rows, result.unparseable) == (rows, len(NO_RECORDS))


def test_accepts_an_empty_landing(contract: Contract) -> None:
    result = validate_landing(MemoryObjectStore(), manifest(), contract)

    assert (result.rows, result.rejected_ratio) == (0, 0.0)


def test_fails_when_an_object_is_missing(contract: Contract) -> None:
    store = MemoryObjectStore()
    landing = landed(store, b'{"id":1}')
    store.delete(landing.parts[0].key)

    with pytest.raises(LandingCorruptError, match="missing"):
        validate_landing(store, landing, contract)


@pytest.mark.parametrize(
    "body",
    [b"", b"junk", gzip.compress(b'{"id":2}\n'), gzip.compress(b'{"id":1}\n')[:-6]],
    # Two processes must give a test one name, and packed bytes hold the time.
    ids=["empty", "junk", "another record", "cut off"],
)
def test_fails_when_an_object_is_not_what_was_landed(contract: Contract, body: bytes) -> None:
    store = MemoryObjectStore()
    landing = landed(store, b'{"id":1}')
    store.put(landing.parts[0].key, body)

    with pytest.raises(LandingCorruptError):
        validate_landing(store, landing, contract)


def test_fails_when_rows_differ_from_the_manifest(contract: Contract) -> None:
    store = MemoryObjectStore()
    landing = dropped(store, "inbox/s/e/a.ndjson", b'{"id":1}\n', 2, "ndjson")

    with pytest.raises(LandingCorruptError, match="1 rows, the manifest says 2"):
        validate_landing(store, landing, contract)


def test_reads_a_dropped_ndjson_file_with_blank_lines(contract: Contract) -> None:
    store = MemoryObjectStore()
    landing = dropped(store, "inbox/s/e/a.ndjson", b'{"id":1}\n\n{"id":2}', 2, "ndjson")

    assert validate_landing(store, landing, contract).rows == 2


def test_counts_what_a_merge_reads_of_a_converted_file_and_compares_the_received_one(
    contract: Contract,
) -> None:
    store = MemoryObjectStore()
    received = dropped(store, f"{PREFIX}original.csv", b"id,name\n1,a\n,b\n", 2, "csv")
    writer = LandingWriter(store, PREFIX)
    writer.write([b'{"id":1,"name":"a"}', b'{"id":null,"name":"b"}'])
    landing = received.model_copy(update={"converted": writer.flush()})

    result = validate_landing(store, landing, contract)

    assert (result.rows, result.unparseable, result.missing_keys) == (2, 0, 1)
    store.put(f"{PREFIX}original.csv", b"id,name\n1,a\n,c\n")
    with pytest.raises(LandingCorruptError, match=r"original\.csv: bytes or sha256 differ"):
        validate_landing(store, landing, contract)


@pytest.mark.parametrize(
    ("key", "body"),
    [
        ("a.ndjson", b'{"id":"' + b"x" * LONGEST_LINE + b'"}'),
    ],
)
def test_a_record_that_is_too_long_for_memory_is_refused(
    contract: Contract, key: str, body: bytes
) -> None:
    store = MemoryObjectStore()
    landing = dropped(store, PREFIX + key, body, 1, key.rpartition(".")[2])

    with pytest.raises(SourceShapeError, match=r"a\.ndjson: a record has more than 8 MiB"):
        validate_landing(store, landing, contract)


def test_names_that_are_data_are_counted_within_bounds(
    contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(census, "MAX_NAMES", 150)
    names = [f"f{number:04}" for number in range(1000)]
    store = MemoryObjectStore()
    landing = landed(store, *(b'{"id":1,"%s":2}' % name.encode() for name in reversed(names)))

    found = validate_landing(store, landing, contract)

    assert found.unknown_fields == tuple(names[:100])
    assert found.absent_fields == ("name",)


def test_counts_by_the_fields_that_columns_are_read_from() -> None:
    nested = load_contract(
        "contract: e\nsource: s\nendpoint: {path: /e}\nhistory: {keys: [id]}\nschema:\n"
        "  - {name: id, type: int, from: $.data.id}\n"
        "  - {name: first_name, type: string, from: first name}\n"
        "  - {name: city, type: string, from: $.data.home.city}\n"
        "  - {name: more, type: 'map<string,string>'}\n"
        "  - {name: lang, type: string, from: $.more.lang}\n"
        "  - {name: zip, type: string, from: $.data.home.zip}\n"
    )
    store = MemoryObjectStore()
    landing = landed(
        store,
        b'{"data":{"id":1,"home":{"city":"Oslo","no":5}},"first name":"Ann","more":{"x":"y"}}',
        b'{"data":{"id":null,"a.b":1},"id":2}',
        b'{"data":"text"}',
        b'{"data":{"home":[1]}}',
        b'{"more":{"lang":"no"},"data":{"id":5}}',
    )

    found = validate_landing(store, landing, nested)

    assert (found.rows, found.unparseable, found.missing_keys) == (5, 0, 3)
    assert found.unknown_fields == ("$.data.home.no", "$.data['a.b']", "id")
    assert found.absent_fields == ("zip",)
