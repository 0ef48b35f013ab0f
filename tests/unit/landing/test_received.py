"""Files as they are received: by name, contract and content they become records, or are refused."""

import gzip
import io
import json
import zipfile
from typing import Any

import pytest

from lakekit.contract.contract import Contract, load_contract
from lakekit.contract.files import Files
from lakekit.errors import SourceShapeError
from lakekit.json_text.lines import read_fields
from lakekit.landing.received import form_of, is_converted, received_records
from lakekit.landing.validate import Tally

ROWS = [{"id": 1, "name": "Zoë"}, {"id": 2, "name": None}]
LINES = '{"id":1,"name":"Zoë"}\n\n{"id":2,"name":null}'.encode()
LIST = '[ {"id":1,"name":"Zoë"} ,\r\n{"id":2,"name":null}]\n'.encode()
CSV = "id,name\n1,Zoë\n2,\n".encode()
HISTORY = "history: {keys: [id]}"
CHANGES = "history: {keys: [id], sequence_by: at, apply_as_deletes: op = 'D', except_columns: [op]}"
DMS = "  - {name: op, type: string, from: Op}\n  - {name: at, type: timestamp}\n"


def contract(files: str = "{}", more: str = "", history: str = HISTORY) -> Contract:
    extract = "changes" if more else "full"
    return load_contract(
        f"contract: e\nsource: s\nendpoint: {{path: /e, extract: {extract}}}\nfiles: {files}\n"
        "schema:\n  - {name: id, type: bigint}\n  - {name: name, type: string}\n"
        f"{more}{history}"
    )


def read(name: str, body: bytes, promise: Contract) -> list[bytes]:
    form = form_of(name, promise.files)
    stream = gzip.GzipFile(fileobj=io.BytesIO(body)) if form.packed else io.BytesIO(body)
    return [*received_records(stream, form, promise, name)]  # type: ignore[arg-type]


def values(name: str, body: bytes, files: str = "{}") -> list[Any]:
    return [json.loads(record) for record in read(name, body, contract(files))]


def zipped(**files: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return target.getvalue()


TABS = '{delimiter: "\\t", columns: [id, name], null_value: "NULL"}'
SEMICOLONS = '{delimiter: ";", quote: "\'"}'


def shown(value: str | bytes) -> str:
    """Return a part of a test's name; packed bytes hold the time."""
    return value if isinstance(value, str) else "body"


@pytest.mark.parametrize(
    ("name", "body", "files"),
    [
        ("a.ndjson", LINES, "{}"),
        ("a.JSONL", LINES, "{}"),
        ("a.gz", gzip.compress(LINES), "{}"),
        ("a.json", LINES, "{}"),
        ("a.json", LIST, "{}"),
        ("a.json.gz", gzip.compress(b"\xef\xbb\xbf\n" + LIST), "{}"),
        ("a.csv", CSV, "{}"),
        ("a.csv", b"\xef\xbb\xbf" + CSV, "{}"),
        ("a.zip", zipped(**{"x/a.csv": CSV}), "{}"),
        ("a.ZIP", zipped(**{"a.json": LIST, "__MACOSX/._a.json": b"?", "x/": b""}), "{}"),
        ("a.zip", zipped(a=LINES), "{format: ndjson}"),
        ("stream-1-2026", LINES, "{format: ndjson}"),
        ("stream-1-2026.gz", gzip.compress(CSV), "{format: csv}"),
        ("a.txt", LIST, "{format: json}"),
        ("a.json", LINES, "{format: ndjson}"),
        ("a.csv", "id;name\n1;Zoë\n'2';\n".encode(), SEMICOLONS),
        ("a.csv", "1\tZoë\n2\tNULL\n".encode(), TABS),
        ("a.csv", CSV.decode().encode("latin-1"), "{charset: latin-1}"),
        ("a.json", LIST.decode().encode("utf-16"), "{charset: utf-16}"),
        ("a.ndjson", LINES.decode().encode("cp1252"), "{charset: cp1252}"),
        ("a.ndjson", LINES, "{charset: UTF8}"),
    ],
    ids=shown,
)  # fmt: skip
def test_a_file_is_read_as_its_name_or_its_contract_says(
    name: str, body: bytes, files: str
) -> None:
    assert values(name, body, files) == ROWS


def test_where_null_has_a_text_an_empty_cell_is_an_empty_text() -> None:
    body = b'id,name\n1,""\n2,NULL\n,x\n'

    assert values("a.csv", body, '{null_value: "NULL"}') == [
        {"id": 1, "name": ""}, {"id": 2, "name": None}, {"id": None, "name": "x"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "body", "files", "message"),
    [
        ("a", b"", "{}", "a: must end in .ndjson"),
        ("a.txt.gz", b"", "{}", "must end in"),
        ("ndjson", b"", "{}", "must end in"),
        ("a.csv.zip.gz", b"", "{}", "zip is packed within"),
        ("a.parquet.gz", b"", "{}", "parquet is packed within; give it without .gz"),
        ("a.csv", b"", "{format: ndjson}", "is named .csv, but files.format is ndjson"),
        ("a.ndjson", b"\x1f\x8b\x08", "{}", "is packed by gzip; name it .gz"),
        ("a.csv", b"PK\x03\x04..", "{}", "is a zip archive; name it .zip"),
        ("a.json", b"PAR1....", "{}", "is Parquet; name it .parquet"),
        ("a.csv", CSV.decode().encode("utf-16"), "{}", "is UTF-16; set files.charset: utf-16"),
        ("a.csv", b"id,name\n1,\xff\n", "{charset: ascii}", "is not ascii; name the right one in"),
        ("a.csv", b"", "{}", "the header of the CSV lacks id; it has no names"),
        ("a.csv", b"ID,name\n1,x\n", "{}", "the header of the CSV lacks id; it has ID, name"),
        ("a.csv", b"id;name\n1;x\n", "{}", "lacks id; it has id;name"),
        ("a.json", b'[{"id":1},{"id":', "{}", "it ends early, after item 1"),
        ("a.json", b'[{"id":1},', "{}", "it ends early, after item 1"),
        ("a.json", b'[{"id":1}}', "{}", "brackets do not match, after item 0"),
        ("a.json", b'[{"id":1}', "{}", "it ends early, after item 0"),
        ("a.json", b'[{"id":1}]{}', "{}", "something follows the JSON list, after item 1"),
        ("a.json", b"[1,]", "{}", "a comma too many, after item"),
        ("a.zip", b"PK\x05\x06", "{}", "broken zip archive"),
        ("a.zip", zipped(), "{}", "the zip archive has no files"),
        ("a.zip", zipped(**{"a.csv": CSV})[:-30], "{}", "broken zip archive"),
        ("a.zip", zipped(**{"a.txt": CSV}), "{}", "a.txt: must end in"),
        ("a.zip", zipped(**{"a.zip": b""}), "{}", "a.zip: give .zip without a zip archive"),
        ("a.zip", zipped(**{"a.csv.gz": b""}), "{}", "give .csv.gz without a zip archive"),
        ("a.zip", zipped(**{"b.csv": b"no\n1\n"}), "{}", "b.csv: the header of the CSV lacks id"),
    ],
    ids=shown,
)  # fmt: skip
def test_a_file_that_is_something_else_is_refused(
    name: str, body: bytes, files: str, message: str
) -> None:
    with pytest.raises(SourceShapeError) as refused:
        values(name, body, files)

    assert message in str(refused.value)


def test_the_items_of_a_list_keep_their_text_however_odd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakekit.json_text.stream.WINDOW", 7)
    items = [
        b'{"price":1.10,"n":12345678901234567890.5}', b'{ "a" : [ {"b":"]\\"},"} ] }', b"12",
        b'{"x":NaN,"y":1e400}', b'{"half":"\\ud83d"}', b'"\xff"', b"[]", b"null",
        b'{"id":"\xc3\xb6"}', b'{"a":1} {"b":2}', b'[[[[[[{"a":[1,{"b":"]"}]}],2]]]]]',
    ]  # fmt: skip

    assert read("a.json", b"[" + b" ,\n".join(items) + b"]", contract()) == items


def test_an_item_without_an_end_is_not_read_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakekit.json_text.lines.LONGEST_LINE", 1000)
    tally = Tally(io.BytesIO(b'[{"a":"' + b"x" * 10_000_000))

    with pytest.raises(SourceShapeError, match="a record has more than"):
        [*received_records(tally, form_of("a.json", Files()), contract(), "a.json")]  # type: ignore[arg-type]
    assert tally.size < 3_000_000


@pytest.mark.parametrize(
    ("name", "files", "converted"),
    [
        ("a.ndjson", Files(), False),
        ("a.parquet", Files(), False),
        ("a.json", Files(), True),
        ("a.zip", Files(), True),
        ("a.ndjson", Files(charset="latin-1"), True),
        ("a.ndjson", Files(charset="UTF8"), False),
        ("a.ndjson", Files(changes="debezium"), True),
    ],
)
def test_lines_of_json_and_parquet_are_merged_as_they_are(
    name: str, files: Files, converted: bool
) -> None:
    assert is_converted(form_of(name, files), files) == converted


class TestDms:
    """CSV files of DMS: with a header or without, a full load with an operation or without."""

    FILES = "{changes: dms, columns: [Op, id, name, at]}"
    HEADED = "{changes: dms}"

    def read(self, name: str, body: bytes, files: str = FILES) -> list[Any]:
        records = read(name, body, contract(files, DMS, CHANGES))
        return [json.loads(r) if read_fields(r) else r for r in records]

    @pytest.mark.parametrize(
        ("name", "body", "files"),
        [
            ("t/LOAD00000001.csv", b"1,Ann,2026-01-01\n", FILES),
            ("t/LOAD0000000A.csv", b"id,name,at\n1,Ann,2026-01-01\n", HEADED),
        ],
    )
    def test_a_full_load_may_lack_the_operation(self, name: str, body: bytes, files: str) -> None:
        assert self.read(name, body, files) == [{"id": 1, "name": "Ann", "at": "2026-01-01"}]

    @pytest.mark.parametrize("name", ["t/LOAD00000001.csv", "t/20260101-1200000.csv"])
    def test_each_change_has_its_operation(self, name: str) -> None:
        body = b"I,1,Ann,2026-01-01\nU,1,Anne,2026-01-02\nD,1,,2026-01-03\n"

        assert [(row["Op"], row["name"]) for row in self.read(name, body)] == [
            ("I", "Ann"), ("U", "Anne"), ("D", None),
        ]  # fmt: skip

    def test_rows_without_a_known_operation_are_no_records(self) -> None:
        body = b"X,1,Ann,2026-01-01\n1,Ann,2026-01-01\n,1,Ann,2026-01-01\n"

        found = self.read("t/20260101-1200000.csv", body)

        assert found == [
            b'["X", "1", "Ann", "2026-01-01"]', b'["1", "Ann", "2026-01-01"]',
            b'["", "1", "Ann", "2026-01-01"]',
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("name", "body", "message"),
        [
            ("20260101-12.csv", b"id,name,at\n1,Ann,x\n", "lacks Op; it has id, name, at"),
            ("LOAD1.csv", b"id,name\n1,Ann\n", "lacks at; it has id, name"),
            ("a.ndjson", b"", "is ndjson, which dms does not write"),
            ("a.gz", gzip.compress(b""), "is ndjson, which dms does not write"),
        ],
        ids=shown,
    )
    def test_a_file_that_would_hide_deletions_is_refused(
        self, name: str, body: bytes, message: str
    ) -> None:
        with pytest.raises(SourceShapeError, match=message):
            self.read(name, body, self.HEADED)
