"""What DuckDB says of a fault, as one line without its classes, its drawings and its offers."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from lakekit.duckdb.values import OUT_OF_RANGE
from lakekit.errors import InvalidStepInputError

_KIND = re.compile(r"^(?:\w+ )+Error: ")
_DRAWING = re.compile(r"\n\s*LINE \d+:")
_FORMAT = re.compile(r"File format '(\w+)' not supported")


@contextmanager
def one_line() -> Iterator[None]:
    """Let what DuckDB says of a fault become one line.

    Raises:
        InvalidStepInputError: DuckDB refuses.
    """
    import duckdb  # noqa: PLC0415

    try:
        yield
    except duckdb.Error as error:
        raise InvalidStepInputError(explain(str(error))) from None


def explain(text: str) -> str:
    r"""Return what a message of DuckDB means here.

    Example:
        >>> explain('Binder Error: No column "nme"!\nCandidates: "name"\n\nLINE 1: SELECT')
        'No column "nme"! Candidates: "name"'
    """
    if OUT_OF_RANGE in text:
        return f"the result has {OUT_OF_RANGE}; query it with `lakekit sql`, and cast it to varchar"
    if found := _FORMAT.search(text):
        kind = found.group(1).lower()
        return f"a file of the table is {kind}, and DuckDB reads Parquet; use another engine"
    said = _KIND.sub("", _DRAWING.split(text)[0])
    return " ".join(said.split())
