"""The footer of a Parquet file: its columns, its rows, and whether each value can be kept exactly.

Spark reads the file itself. Here only the footer is parsed, by Thrift's compact protocol
(https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md) and the ids of
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.
"""

from typing import IO, Any, NamedTuple

from lakekit.contract.contract import Contract
from lakekit.csv_records import PLAIN, Dialect, refuse_header
from lakekit.errors import SourceShapeError

MAGIC = b"PAR1"
MOST_FOOTER_BYTES = 16 * 1024 * 1024
_BINARY, _FIXED = 6, 7
_TEXTS, _DECIMAL = {0, 4, 19}, 5  # converted types: UTF8, ENUM, JSON
_REFUSED_CONVERTED = {7: "TIME", 8: "TIME", 20: "BSON", 21: "INTERVAL"}
_REFUSED_LOGICAL = {7: "TIME", 13: "BSON", 14: "UUID", 15: "FLOAT16"}
_TEXTS_LOGICAL, _DECIMAL_LOGICAL, _TIMESTAMP = {1, 4, 12}, 5, 8
_NANOS = 3


class Footer(NamedTuple):
    """What a file says of itself.

    columns: their names. binary: those of bytes. faults: by path, the type of each value that is
    not kept exactly.
    """

    rows: int
    columns: tuple[str, ...]
    binary: frozenset[str]
    faults: dict[str, str]
    bytes: int


def read_footer(stream: IO[bytes]) -> Footer:
    """Read a Parquet file to its end; return what its footer says.

    Raises:
        SourceShapeError: It is no Parquet, is cut, encrypted, or has too large a footer.
    """
    begin = stream.read(len(MAGIC))
    size, tail = len(begin), begin
    while block := stream.read(1 << 20):
        size += len(block)
        tail = (tail + block)[-MOST_FOOTER_BYTES - 8 :]
    if tail[-4:] == b"PARE":
        raise SourceShapeError("the Parquet file is encrypted")
    if begin != MAGIC or tail[-4:] != MAGIC or size < 12:
        raise SourceShapeError("not Parquet, or cut: it must begin and end with PAR1")
    length = int.from_bytes(tail[-8:-4], "little")
    if length > min(MOST_FOOTER_BYTES, size - 12):
        raise SourceShapeError(f"the footer of the Parquet file cannot have {length} bytes")
    try:
        found = _Compact(tail[-8 - length : -8]).struct()
        return _footer(found)
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise SourceShapeError("the footer of the Parquet file cannot be read") from error


def refuse_footer(footer: Footer, contract: Contract, dialect: Dialect = PLAIN) -> None:
    """Refuse a file that lacks a key, or of which a merge would not read the values as they are.

    Raises:
        SourceShapeError: It is such a file.
    """
    refuse_header(footer.columns, contract, dialect, what="Parquet file")
    faults = [f"{path} is {kind}" for path, kind in footer.faults.items()]
    for column in contract.columns:
        if column.steps[0] in footer.binary and column.sql_type.name != "binary":
            faults.append(f"{column.steps[0]} is binary, the contract says {column.type}")
    lower = [name.lower() for name in footer.columns]
    faults += [f"{n} is there in two cases" for n in sorted({*lower}) if lower.count(n) > 1]
    if faults:
        raise SourceShapeError(
            f"the Parquet file holds what cannot be kept as it is: {'; '.join(faults)}"
        )


def _footer(found: dict[int, Any]) -> Footer:
    root, *elements = found[2]
    columns: list[str] = []
    binary, faults = set[str](), dict[str, str]()
    left = [root[5]]
    path: list[str] = []
    for each in elements:
        name = each[4].decode()
        while left[-1] == 0:
            left.pop()
            path.pop()
        left[-1] -= 1
        if len(left) == 1:
            columns.append(name)
        if children := each.get(5, 0):
            left.append(children)
            path.append(name)
            continue
        place = ".".join([*path, name])
        if kind := _inexact(each):
            faults[place] = kind
        elif _is_binary(each) and path:
            faults[place] = "binary within another value"
        elif _is_binary(each):
            binary.add(name)
    groups = found.get(4, [])
    return Footer(
        found[3], tuple(columns), frozenset(binary), faults, sum(each[2] for each in groups)
    )


def _inexact(element: dict[int, Any]) -> str | None:
    """Return the type of a value that no text keeps exactly, or that Spark does not read."""
    logical = element.get(10, {})
    kinds = [_REFUSED_LOGICAL[n] for n in logical if n in _REFUSED_LOGICAL]
    kinds += [_REFUSED_CONVERTED[n] for n in [element.get(6)] if n in _REFUSED_CONVERTED]
    if _NANOS in logical.get(_TIMESTAMP, {}).get(2, {}):
        kinds.append("TIMESTAMP of nanoseconds")
    is_decimal = element.get(6) == _DECIMAL or _DECIMAL_LOGICAL in logical
    if not kinds and element.get(1) == _FIXED and not is_decimal:
        kinds.append("FIXED_LEN_BYTE_ARRAY")
    return kinds[0] if kinds else None


def _is_binary(element: dict[int, Any]) -> bool:
    logical, converted = element.get(10, {}), element.get(6)
    is_said = converted in _TEXTS or converted == _DECIMAL
    is_said = is_said or bool({*logical} & {*_TEXTS_LOGICAL, _DECIMAL_LOGICAL})
    return element.get(1) == _BINARY and not is_said


class _Compact:
    """Values of Thrift's compact protocol: a struct is a dictionary by the ids of its fields."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def struct(self) -> dict[int, Any]:
        """Read a struct."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            delta, kind = head >> 4, head & 15
            number = number + delta if delta else self._zigzag()
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (1, 2):  # within a list
            return self._byte() == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind in (7, 8):
            return self._bytes(8 if kind == 7 else self._varint())
        if kind in (9, 10):
            head = self._byte()
            size = self._varint() if head >> 4 == 15 else head >> 4
            if size > len(self._data):
                raise ValueError(size)
            return [self._value(head & 15) for _ in range(size)]
        if kind == 12:
            return self.struct()
        raise ValueError(kind)

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, size: int) -> bytes:
        if self._at + size > len(self._data):
            raise IndexError(size)
        self._at += size
        return self._data[self._at - size : self._at]

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
