"""Rows that were read, as Arrow, Polars, pandas or Python has them."""

from collections.abc import Sequence
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lakekit.errors import InvalidStepInputError
from lakekit.values import to_text, unique_names

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

# How many rows a notebook shows.
_SHOWN = 20


class Rows:
    """The rows of one answer, in memory. A notebook shows the first twenty."""

    def __init__(self, table: "pyarrow.Table") -> None:
        self._table = table

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._table.column_names)

    def arrow(self) -> "pyarrow.Table":
        """Return a table of Arrow."""
        return self._table

    def polars(self) -> "polars.DataFrame":
        """Return a frame of Polars; of columns of one name the later ones are numbered.

        Raises:
            InvalidStepInputError: Polars is not installed.
        """
        named = self._table.rename_columns(unique_names(self.columns))
        frame: polars.DataFrame = optional("polars").from_arrow(named)
        return frame

    def df(self) -> "pandas.DataFrame":
        """Return a frame of pandas, whose columns have Arrow's types.

        Integers with nulls stay integers, and decimals decimals.

        Raises:
            InvalidStepInputError: pandas is not installed.
        """
        frame: pandas.DataFrame = self._table.to_pandas(types_mapper=optional("pandas").ArrowDtype)
        return frame

    def dicts(self) -> list[dict[str, Any]]:
        """Return a dictionary for each row; of two columns of one name it has the last."""
        found: list[dict[str, Any]] = self._table.to_pylist()
        return found

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __repr__(self) -> str:
        return f"<{len(self)} rows: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        first = self._table.slice(0, _SHOWN)
        columns = [column.to_pylist() for column in first.columns]
        body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in zip(*columns, strict=True))
        more = f"<p>the first {_SHOWN} of {len(self):,} rows</p>" if len(self) > _SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def made(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Rows:
    """Return rows of values of Python."""
    pyarrow = optional("pyarrow", "readers")
    arrays = [pyarrow.array([row[place] for row in rows]) for place in range(len(columns))]
    return Rows(pyarrow.table(arrays, names=list(columns)))


def optional(package: str, extra: str | None = None) -> Any:
    """Return a module that is not needed for all else.

    Raises:
        InvalidStepInputError: It is not installed; the message has the line that installs it.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        top = package.partition(".")[0]
        if error.name != top:
            raise
        line = f"'lakekit[{extra}]'" if extra else top
        raise InvalidStepInputError(f"{top} is not installed; pip install {line}") from None


def _cell(value: Any) -> str:
    return f"<td>{'' if value is None else escape(to_text(value))}</td>"
