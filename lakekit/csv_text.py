"""CSV as rows: the one place that reads it, as its limit holds for all of Python."""

import csv
from collections.abc import Iterable, Iterator

# Spark reads no text in a line of JSON that is longer. Without a limit, a quote that is never
# closed would bring a whole file into memory.
LONGEST_CELL = 20_000_000


def csv_rows(text: Iterable[str]) -> Iterator[list[str]]:
    """Return the rows of a CSV text.

    Raises:
        csv.Error: It is not CSV, or has a cell that is too long.
    """
    csv.field_size_limit(LONGEST_CELL)
    return csv.reader(text, strict=True)
