"""Files that are given to a merge have the forms that files at the inbox have."""

import gzip
import io
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakekit.contract.contract import Contract, load_contract
from lakekit.errors import LandingCorruptError, SourceShapeError
from lakekit.local.files import copy_in, verify
from lakekit.local.receive import receive, received

RECORDS = [{"id": 1, "name": "a"}, {"id": 2, "name": None}]
LINES = b"".join(json.dumps(each).encode() + b"\n" for each in RECORDS)
CSV = b"id,name\n1,a\n2,\n"


def contract(files: str = "{}") -> Contract:
    return load_contract(
        "contract: people\nsource: shop\nendpoint: {path: /people}\n"
        "schema: [{name: id, type: int}, {name: name, type: string}]\n"
        f"history: {{keys: [id]}}\nfiles: {files}"
    )


def kind(value: object) -> str:
    """Name a value in the name of a test; bytes of gzip hold the time."""
    return value if isinstance(value, str) else type(value).__name__


def archive(name: str, content: bytes) -> bytes:
    with zipfile.ZipFile(sink := io.BytesIO(), "w") as packed:
        packed.writestr(name, content)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "files"),
    [
        ("a.csv", CSV, "{}"),
        ("a.CSV.gz", gzip.compress(CSV), "{}"),
        ("a.csv", CSV.replace(b",", b";"), '{delimiter: ";"}'),
        ("a.dat", CSV, "{format: csv}"),
        ("a.csv", CSV.decode().encode("utf-16"), "{charset: utf-16}"),
        ("a.json", json.dumps(RECORDS, indent=1).encode(), "{}"),
        ("a.json", LINES, "{}"),
        ("a.json.gz", gzip.compress(json.dumps(RECORDS).encode()), "{}"),
        ("a.zip", archive("b.csv", CSV), "{}"),
    ],
    ids=kind,
)
def test_what_spark_does_not_read_becomes_lines(
    tmp_path: Path, name: str, content: bytes, files: str
) -> None:
    (tmp_path / name).write_bytes(content)

    read = receive(tmp_path / name, contract(files), tmp_path / "lines")

    assert list(map(json.loads, gzip.decompress(read.read_bytes()).splitlines())) == RECORDS
    assert read.parent == tmp_path / "lines"


@pytest.mark.parametrize("name", ["a.ndjson", "a.jsonl", "a.ndjson.gz", "a.gz"])
def test_lines_are_read_as_they_are(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(gzip.compress(LINES) if name.endswith("gz") else LINES)

    assert receive(file, contract(), tmp_path / "none") == file


def test_a_name_by_which_spark_would_not_know_the_form_gets_its_ending(tmp_path: Path) -> None:
    (tmp_path / "A.GZ").write_bytes(gzip.compress(LINES))
    pq.write_table(pa.table({"id": [1], "name": ["a"]}), tmp_path / "stream-1")

    lines = receive(tmp_path / "A.GZ", contract(), tmp_path / "1")
    rows = receive(tmp_path / "stream-1", contract("{format: parquet}"), tmp_path / "2")

    assert (lines.name, rows.name) == ("A.GZ.ndjson.gz", "stream-1.parquet")
    assert rows.read_bytes() == (tmp_path / "stream-1").read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("a.csv", b"x;y\n1;2\n", "the header of the CSV lacks id; it has x;y"),
        ("a.txt", LINES, "must end in .ndjson, .jsonl, .json or .csv"),
        ("a.csv", gzip.compress(CSV), "the file is packed by gzip; name it .gz"),
        ("a.ndjson", archive("b", b""), "the file is a zip archive; name it .zip"),
        ("a.ndjson", LINES.decode().encode("utf-16"), "the file is UTF-16; set files.charset"),
        ("a.csv.gz", CSV, "broken gzip: Not a gzipped file"),
        ("a.json.gz", gzip.compress(LINES)[:-9], "broken gzip: Compressed file ended"),
        ("a.json", b'[{"id": 1}', "not a JSON list: it ends early"),
        ("a.parquet", CSV, "not Parquet, or cut"),
        ("a.zip", CSV, "broken zip archive"),
    ],
    ids=kind,
)
def test_a_file_that_is_not_of_its_form_is_refused_by_name(
    tmp_path: Path, name: str, content: bytes, fault: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)

    with pytest.raises(SourceShapeError) as refused:
        receive(file, contract(), tmp_path / "lines")

    assert str(refused.value).startswith(f"{file}: {fault}")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for file, fault in ((tmp_path / "none.csv", "no such file"), (tmp_path, "is a folder")):
        with pytest.raises(SourceShapeError, match=fault):
            receive(file, contract(), tmp_path / "lines")


def test_the_lines_are_there_as_long_as_they_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(CSV)

    with received([str(file), str(file)], contract()) as reads:
        (lines,) = reads.values()
        assert lines.is_file()
        assert set(reads) == {str(file)}
    assert not lines.exists()


def test_a_landing_keeps_the_file_and_its_lines_and_checks_both(tmp_path: Path) -> None:
    file, place = tmp_path / "a b.csv", tmp_path / "landing"
    file.write_bytes(CSV)
    place.mkdir()

    landed = copy_in(file, place, 0, receive(file, contract(), tmp_path / "lines"))

    assert landed.name == "00000-a_b.csv"
    assert landed.read_as == "00000-a_b.csv.converted.ndjson.gz"
    assert (place / landed.name).read_bytes() == CSV
    verify(place / landed.name, landed)
    (place / landed.read_as).write_bytes(b"other")
    with pytest.raises(LandingCorruptError, match="has changed"):
        verify(place / landed.name, landed)
