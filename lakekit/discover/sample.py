"""The records of answers as values: what columns, keys and roles are proposed by."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from pydantic import ValidationError

from lakekit.contract.contract import Contract
from lakekit.discover.form import Form
from lakekit.discover.places import Place
from lakekit.errors import SourceShapeError
from lakekit.extract.content.records import cut_records
from lakekit.extract.content.xml_text import typed
from lakekit.json_text.lines import read_fields
from lakekit.models import describe_faults
from lakekit.records.json_values import Fields, Number, parsed
from lakekit.records.reader import TypedRecord, read_record


def raw_records(form: Form, place: Place, *, path: str = "/") -> list[bytes]:
    """Return the text of each record of an answer; those of CSV with all cells as texts.

    Raises:
        SourceShapeError: There are none at that place.
    """
    if form.name == "csv":
        return [msgspec.json.encode(row) for row in form.rows]
    if form.name == "ndjson":
        return list(form.lines)
    assert form.json is not None  # noqa: S101
    document = {"path": path, **place.endpoint}
    endpoint = contract_of({"endpoint": document}).endpoint
    return cut_records(form.json, endpoint, one_is_a_list=form.name == "xml")


def objects_of(lines: Iterable[bytes]) -> list[Fields]:
    """Return the records that are objects of JSON; others will be rejected whatever the columns."""
    found = []
    for line in lines:
        if read_fields(line) is not None:
            value = parsed(line)
            if isinstance(value, Fields):
                found.append(value)
    return found


def untyped(record: Fields) -> Fields:
    """Return a record that was landed by types as it was in a text: numbers as texts."""
    return Fields((name, _text(value)) for name, value in record)


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, Fields):
        return untyped(value)
    return [_text(each) for each in value] if isinstance(value, list) else value


def contract_of(document: Mapping[str, Any]) -> Contract:
    """Return a contract of parts; what is missing is filled with what says nothing.

    Raises:
        SourceShapeError: It is none; with one line per fault.
    """
    filled = {
        "contract": "draft",
        "source": "draft",
        "schema": [{"name": "draft", "type": "string"}],
        "history": {"mode": "append"},
        **document,
    }
    try:
        return Contract.model_validate(filled)
    except ValidationError as error:
        raise SourceShapeError(describe_faults(error, Contract, "contract")) from None


def typed_records(lines: Iterable[bytes], contract: Contract) -> list[TypedRecord]:
    """Return the records as the table's columns have them."""
    return [read_record(line, contract) for line in lines]


def distinct_rows(records: Sequence[TypedRecord]) -> list[dict[str, Any]]:
    """Return the values of the records that are not rejected, of equal lines one."""
    once = {record.raw: record.values for record in records if record.fault is None}
    return list(once.values())


def as_landed(records: Sequence[Fields], contract: Contract) -> list[bytes]:
    """Return records of texts as an extraction lands them: as JSON of the contract's types."""
    types = contract.field_types
    return [
        msgspec.json.encode(
            {name: typed(plain_value(value), types[name]) if name in types else plain_value(value)
             for name, value in record}
        )
        for record in records
    ]  # fmt: skip


def plain_value(value: Any) -> Any:
    """Return a value of texts as Python has it."""
    if isinstance(value, Fields):
        return {name: plain_value(each) for name, each in value}
    return [plain_value(each) for each in value] if isinstance(value, list) else value
