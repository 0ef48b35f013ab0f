"""Files that are given: of which form they are, and whether they can be unpacked."""

import gzip
import os
import zipfile
from pathlib import Path

import pytest

from lakekit.local.files import broken_gzip, form_fault

LINES = b'{"id": 1}\n' * 100
NOT_JSON = "; give lines of JSON in UTF-8, or such a file packed by gzip"
GZIP = gzip.compress(LINES)


def kind(value: object) -> str:
    """Name a value in the name of a test; bytes of gzip hold the time."""
    return value if isinstance(value, str) else type(value).__name__


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("a.ndjson", LINES, None),
        ("a.ndjson", b"", None),
        ("a.ndjson", b"{", None),
        ("a.ndjson", b"\xef\xbb\xbf{}", None),
        ("a b.ndjson.gz", GZIP, None),
        ("a.gz", b"", None),
        ("a.ndjson", GZIP, "is packed by gzip; only a file that is named so, .gz, is unpacked"),
        ("a.GZ", GZIP, "is packed by gzip; only a file that is named so, .gz, is unpacked"),
        ("a.ndjson.gz", LINES, "is named .gz, but is not packed by gzip"),
        ("a.ndjson", b"PK\x05\x06", f"is a zip archive{NOT_JSON}"),
        ("a.zst", b"\x28\xb5\x2f\xfd\x04\x00", f"is zstd{NOT_JSON}"),
        ("a.xz", b"\xfd7zXZ\x00", f"is xz{NOT_JSON}"),
        ("a.parquet", b"PAR1", f"is Parquet{NOT_JSON}"),
        ("a.ndjson", "{}".encode("utf-16"), f"is UTF-16{NOT_JSON}"),
    ],
    ids=kind,
)
def test_a_file_of_another_form_is_found_by_its_beginning(
    tmp_path: Path, name: str, content: bytes, fault: str | None
) -> None:
    file = tmp_path / name
    file.write_bytes(content)

    assert form_fault(file) == fault


def test_a_zip_archive_is_found_whatever_its_name(tmp_path: Path) -> None:
    file = tmp_path / "a.ndjson.gz"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.ndjson", LINES)

    assert form_fault(file) == f"is a zip archive{NOT_JSON}"


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert form_fault(tmp_path / "none") == "no such file"
    assert form_fault(tmp_path) == "is a folder"
    assert form_fault(tmp_path / "pipe") == "is no regular file"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (GZIP[:-9], "ended before the end-of-stream marker"),
        (GZIP[:-8] + bytes(8), "CRC check failed"),
        (GZIP[:20] + b"\xff" * 20, ""),
        (GZIP + b"more", "Not a gzipped file"),
        (LINES, "Not a gzipped file"),
    ],
    ids=kind,
)
def test_a_broken_gzip_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    files = [tmp_path / name for name in ("a.ndjson", "b.gz", "c.gz")]
    for file, text in zip(files, (content, GZIP + GZIP, content), strict=True):
        file.write_bytes(text)

    broken = broken_gzip(map(str, files))

    assert broken is not None
    assert broken.startswith(f"{files[2]}: broken gzip: ")
    assert reason in broken
    assert broken_gzip([str(files[1])]) is None
