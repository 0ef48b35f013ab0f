"""Zip archives with damaged bytes: they are read whole, or are broken in one way."""

import io
import random
import zipfile
from collections import Counter

import pytest

from lakekit.byte_streams.archives import (
    BrokenArchiveError,
    archive_files,
    has_password,
    unpacked,
)

FILES = {"a.ndjson": b'{"id": 1}\n' * 200, "b.ndjson": b'{"id": 2}\n' * 3}
METHODS = {
    "stored": zipfile.ZIP_STORED,
    "deflated": zipfile.ZIP_DEFLATED,
    "bzip2": zipfile.ZIP_BZIP2,
    "lzma": zipfile.ZIP_LZMA,
}


def archive(method: int) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as written:
        for name, body in FILES.items():
            written.writestr(name, body)
    return target.getvalue()


def read(body: bytes) -> dict[str, bytes]:
    files = [each for each in archive_files(io.BytesIO(body)) if not has_password(each)]
    return {each.filename: b"".join(unpacked(lambda: io.BytesIO(body), each)) for each in files}


def damaged(body: bytes, seed: int) -> bytes:
    chance, changed = random.Random(seed), bytearray(body)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(changed))
        match chance.randrange(6):
            case 0:
                del changed[place:]
                changed += b"."
            case 1:
                del changed[place : place + chance.randint(1, 9)]
                changed += b"."
            case _:
                changed[place] = chance.randrange(256)
    return bytes(changed)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_an_archive_is_read_whole(method: int) -> None:
    assert read(archive(method)) == FILES


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_damaged_archive_raises_one_error_or_has_the_right_bytes(method: int) -> None:
    body, outcomes = archive(method), Counter[str]()
    for seed in range(1000):
        try:
            found = read(damaged(body, seed))
        except BrokenArchiveError as error:
            assert str(error), seed
            outcomes["broken"] += 1
        else:
            assert all(each in FILES.values() for each in found.values()), seed
            outcomes["read"] += 1
    assert outcomes["broken"] > 500, outcomes


def test_a_folder_is_no_file() -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as written:
        written.mkdir("folder")

    assert archive_files(target) == []
