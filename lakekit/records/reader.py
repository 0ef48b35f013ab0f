"""One landed line → a record with the contract's columns, or why it is rejected."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lakekit.contract.contract import Column, Contract
from lakekit.contract.endpoint.paths import path_of
from lakekit.contract.fields import Steps
from lakekit.contract.sqltypes import SqlType
from lakekit.json_text.lines import BYTE_ORDER_MARK, read_fields
from lakekit.records.forms import UNREADABLE
from lakekit.records.json_values import Fields, parsed
from lakekit.records.values import BreaksRecordError, NoSuchValueError, Typed, typed


@dataclass(frozen=True)
class TypedRecord:
    """A line, the values of the contract's columns by name, and why it is rejected, if it is."""

    raw: bytes
    values: dict[str, Any]
    fault: str | None = None


@dataclass(frozen=True)
class _Read:
    """What a column has: its value in its type, as it was landed, and whether it is not parsed."""

    column: Column
    found: Typed
    value: Any
    broken: bool = False


def read_record(line: bytes, contract: Contract) -> TypedRecord:
    """Read a line as the merge does.

    Whether a record deletes its key is not looked at: the condition is Spark's to evaluate.
    """
    if read_fields(line) is None:
        return TypedRecord(line, {}, UNREADABLE)
    try:
        record = parsed(line.removeprefix(BYTE_ORDER_MARK.encode()))
    except ValueError:
        return TypedRecord(line, {}, UNREADABLE)
    try:
        read = [_read(column, record) for column in contract.columns]
    except BreaksRecordError:
        read = [_nothing(column, record) for column in contract.columns]
    values = {each.column.name: each.found.value for each in read}
    odd = [*_no_objects(contract, record)]
    if odd or any(each.broken or each.found.partial for each in read):
        named = [each for one in read for each in _misfits(one)] + odd
        return TypedRecord(line, values, "; ".join(named) or UNREADABLE)
    return TypedRecord(line, values, "; ".join(_faults(contract, read)) or None)


def _read(column: Column, record: Fields) -> _Read:
    value = _along(record, column.steps)
    try:
        return _Read(column, typed(value, column.sql_type), value)
    except BreaksRecordError:
        raise
    except NoSuchValueError:
        return _nothing(column, record)


def _nothing(column: Column, record: Fields) -> _Read:
    return _Read(column, Typed(None), _along(record, column.steps), broken=True)


def _along(record: Any, steps: Steps) -> Any:
    for name in steps:
        record = record.named().get(name) if isinstance(record, Fields) else None
    return record


def _no_objects(contract: Contract, record: Fields) -> Iterator[str]:
    """Yield which values have no fields, though paths lead through them."""
    walked = {c.steps[:end] for c in contract.columns for end in range(1, len(c.steps))}
    for steps in sorted(walked, key=lambda each: (len(each), each)):
        value = _along(record, steps)
        if value is not None and not isinstance(value, Fields):
            yield f"{path_of(steps)}: is no object"


def _misfits(read: _Read) -> Iterator[str]:
    """Yield the parts of a column that are there and have no value in their type."""
    yield from _missing(read.column.name, read.column.sql_type, read.found.value, read.value)


def _missing(path: str, kind: SqlType, value: Any, text: Any) -> Iterator[str]:
    if text is None:
        return
    if value is None:
        yield f"{path}: does not fit {kind}"
    if kind.name == "struct" and isinstance(text, Fields) and isinstance(value, dict):
        there = text.named()
        for name, part in kind.fields:
            yield from _missing(f"{path}.{name}", part, value[name], there.get(name))


def _faults(contract: Contract, read: list[_Read]) -> Iterator[str]:
    always = {*contract.keys, contract.history.sequence_by}
    for each in read:
        is_needed = each.column.required or each.column.name in always
        if is_needed and each.found.value is None and not each.found.misfit:
            yield f"{each.column.name}: required, but null"
    for each in read:
        if each.found.misfit:
            yield f"{each.column.name}: does not fit {each.column.type}"
