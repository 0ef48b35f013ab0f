"""Files that a person gives to a merge: read by the same code as those at the inbox."""

import gzip
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, cast

from lakekit.contract.contract import Contract
from lakekit.errors import SourceShapeError
from lakekit.json_text.lines import refuse_long
from lakekit.landing.parquet import read_footer, refuse_footer
from lakekit.landing.received import (
    Form,
    dialect_of,
    form_of,
    is_converted,
    received_records,
    refuse_begin,
)
from lakekit.landing.writer import one_line
from lakekit.local.files import CONVERTED, place_fault

# By these Spark knows what a file is, and whether it is packed.
_KNOWN = (".ndjson", ".jsonl", ".gz", ".parquet")


@contextmanager
def received(files: Sequence[str], contract: Contract) -> Iterator[Mapping[str, Path]]:
    """Give for each file the one that a merge reads: itself, or its records as lines for a while.

    Raises:
        SourceShapeError: A file is missing, is not of its form, or lacks what the table needs.
    """
    with TemporaryDirectory(prefix="lakekit-") as folder:
        places = (Path(folder) / f"{number:05d}" for number in range(len(files)))
        yield {
            file: receive(Path(file), contract, place)
            for file, place in zip(dict.fromkeys(files), places, strict=False)
        }


def receive(file: Path, contract: Contract, folder: Path) -> Path:
    """Return what a merge reads of a file: itself, or one in the folder, which is made for it.

    Raises:
        SourceShapeError: See `received`; the message begins with the file.
    """
    try:
        if fault := place_fault(file):
            raise SourceShapeError(fault)
        form = form_of(file.name, contract.files)
        with _unpacked(file, form) as stream:
            return _received(file, form, stream, contract, folder)
    except SourceShapeError as error:
        # Some name the file themselves, without its folder.
        text = str(error).removeprefix(f"{file.name}: ")
        raise SourceShapeError(f"{file}: {text}") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise SourceShapeError(f"{file}: broken gzip: {error}") from error
    except OSError as error:
        raise SourceShapeError(f"{file}: {error.strerror or error}") from None


def _received(file: Path, form: Form, stream: IO[bytes], contract: Contract, folder: Path) -> Path:
    if form.format == "parquet":
        refuse_footer(read_footer(stream), contract, dialect_of(contract, file.name))
    elif not is_converted(form, contract.files):
        refuse_begin(stream)
    else:
        folder.mkdir()
        lines = folder / f"{file.name}{CONVERTED}"
        with gzip.open(lines, "wb", compresslevel=1) as sink:
            for record in received_records(stream, form, contract, file.name):
                line = one_line(record) + b"\n"
                refuse_long(len(line))
                sink.write(line)
        return lines
    if file.suffix in _KNOWN:
        return file
    folder.mkdir()
    return Path(shutil.copyfile(file, folder / f"{file.name}{form.ending}"))


@contextmanager
def _unpacked(file: Path, form: Form) -> Iterator[IO[bytes]]:
    with file.open("rb") as stream:
        if not form.packed:
            yield stream
            return
        with gzip.GzipFile(fileobj=stream) as unpacked:
            yield cast(IO[bytes], unpacked)
