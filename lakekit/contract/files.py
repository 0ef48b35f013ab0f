"""The files section of a contract: how files at the inbox are written, which changes they hold."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from lakekit.contract.checks import refuse
from lakekit.contract.endpoint.answer import Charset, Sign
from lakekit.contract.fields import Steps
from lakekit.models import Fault, Model

_OF_CSV = ("delimiter", "quote", "columns", "null_value")
# By the tool that writes the changes: the formats it has, and the field with its operation.
_FORMATS = {"dms": ("csv", "parquet"), "debezium": ("json", "ndjson")}
OPERATIONS: Mapping[str, str] = {"dms": "Op", "debezium": "__op"}
_DELETES = {"dms": "D", "debezium": "d"}


class Files(Model):
    """How files at the inbox are written, where their names do not say it.

    format: of all files, whatever their names end in. delimiter, quote, null_value: of CSV; a cell
    with the text of `null_value` is null. columns: the names of a CSV without a header. changes:
    the tool that wrote the files, if they hold changes.
    """

    format: Literal["csv", "json", "ndjson", "parquet"] | None = None
    charset: Charset | None = None
    delimiter: Sign = ","
    quote: Sign = '"'
    columns: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    null_value: str = ""
    changes: Literal["dms", "debezium"] | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        refuse(_form_faults(self.model_dump(exclude_unset=True, exclude_none=True)))
        return self


def file_faults(
    files: Mapping[str, Any],
    extract: object,
    options: Mapping[str, Any],
    fields: Collection[Steps] | None = None,
) -> Iterator[Fault]:
    """Yield what of a files section does not go together, in itself or with the rest.

    Args:
        files: The section as a person wrote it, with None for what did not parse.
        extract: What the endpoint's extracts are.
        options: Those of the history section.
        fields: Where columns are read from, if that is known.
    """
    yield from _form_faults(files)
    tool = files.get("changes")
    if not isinstance(tool, str) or tool not in OPERATIONS:
        return
    if extract in ("full", "incremental"):
        yield Fault(("endpoint", "extract"), f"files of {tool} hold changes; make it changes")
    if "sequence_by" in options and options["sequence_by"] is None:
        must = f"changes of {tool} need it: name the column with the time of the change"
        yield Fault(("history", "sequence_by"), must)
    if options.get("mode") == "append":
        return
    if "apply_as_deletes" in options and options["apply_as_deletes"] is None:
        must = f"changes of {tool} need it, or deletions would be updates: op = '{_DELETES[tool]}'"
        yield Fault(("history", "apply_as_deletes"), must)
    if fields is not None and (OPERATIONS[tool],) not in fields:
        must = f"{{name: op, type: string, from: {OPERATIONS[tool]}}}"
        yield _fault("changes", f"the schema needs a column of the operation: {must}")


def header_faults(columns: Collection[str] | None, keys: Collection[str]) -> Iterator[Fault]:
    """Yield the fields of keys that the declared columns of CSV files lack."""
    for name in keys if columns else ():
        if name not in (columns or ()):
            yield _fault("columns", f"lacks {name}, which a key is read from")


def _form_faults(files: Mapping[str, Any]) -> Iterator[Fault]:
    form, tool = files.get("format"), files.get("changes")
    for name in _OF_CSV if form in ("json", "ndjson", "parquet") else ():
        if name in files:
            yield _fault(name, f"files of {form} have none; it is for csv")
    if form == "parquet" and "charset" in files:
        yield _fault("charset", "files of parquet have none")
    if tool in _FORMATS and form is not None and form not in _FORMATS[tool]:
        yield _fault("format", f"{tool} writes {' or '.join(_FORMATS[tool])}")
    if files.get("delimiter", ",") == files.get("quote", '"'):
        yield _fault("delimiter", "must be another sign than quote")
    columns = [name for name in files.get("columns") or () if isinstance(name, str)]
    if len({*columns}) < len(columns):
        yield _fault("columns", "a name stands twice")


def _fault(name: str, message: str) -> Fault:
    return Fault(("files", name), message)
