"""The customer dimension of TPC-DI, as functions of a key and the state of its content.

The content of a key is `F(id, u, f)`: `u` counts its ordinary changes, and `f` is one bit that
turns `phone2` between null and a value, a change that engines that are not null-safe miss.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.workloads import Workload

_FIRST = (
    "Ada",
    "Ben",
    "Chloé",
    "Dmitri",
    "Elif",
    "Fatou",
    "Göran",
    "Hana",
    "Iker",
    "João",
    "Kofi",
    "Lena",
    "Mei",
    "Noor",
    "Olga",
    "Pau",
)
_LAST = (
    "Abe",
    "Brun",
    "Costa",
    "Diaz",
    "Ekman",
    "Fuchs",
    "Garcia",
    "Hall",
    "Ito",
    "Jung",
    "Klein",
    "Lopez",
    "Mori",
    "Novak",
    "Oduya",
)
_CITY = (
    "Accra",
    "Bergen",
    "Cork",
    "Dakar",
    "Essen",
    "Fukuoka",
    "Gent",
    "Haifa",
    "Izmir",
    "Jena",
    "Kyoto",
    "Lima",
    "Mainz",
)
_COUNTRY = ["United States of America", "Canada", "Österreich"]
_STATUS = ["ACTV", "CMPT", "CNCL", "INAC", "PNDG", "SBMT"]


@dataclass(frozen=True)
class Column:
    """One column: its type in Spark and DuckDB, which agree, and its content as DuckDB SQL."""

    name: str
    type: str
    content: str


def _random(salt: int, below: int, *, changes: bool = False) -> str:
    return f"(hash(id, {salt}{', u' if changes else ''}) % {below})::bigint"


def _pick(values: Sequence[str], salt: int, *, changes: bool = False) -> str:
    names = ", ".join(f"'{value}'" for value in values)
    return f"[{names}][{_random(salt, len(values), changes=changes)} + 1]"


def _phone(salt: int) -> str:
    return f"printf('+1 %03d %07d', {_random(salt, 1000)}, {_random(salt + 1, 10_000_000)})"


KEYS = {
    "bigint": (Column("customer_id", "bigint", "id"),),
    "string": (Column("customer_id", "string", "'C' || lpad(id::varchar, 12, '0')"),),
    "composite": (
        Column("region", "string", "['apac', 'emea', 'latam', 'noram'][id % 4 + 1]"),
        Column("customer_id", "bigint", "id // 4"),
    ),
}
CONTENT = (
    Column("tax_id", "string", f"printf('%03d-%02d-%04d', id % 999, id % 97, {_random(1, 9999)})"),
    Column("status", "string", _pick(_STATUS, 2, changes=True)),
    Column("last_name", "string", f"{_pick(_LAST, 3)} || '-' || {_pick(_LAST, 4)}"),
    Column("first_name", "string", _pick(_FIRST, 5)),
    Column("middle_initial", "string", f"nullif({_pick(['', 'A', 'J', 'M'], 6)}, '')"),
    Column("gender", "string", f"nullif({_pick(['F', 'M', 'U', ''], 7)}, '')"),
    Column("tier", "int", f"nullif({_random(8, 4, changes=True)}, 0)::int"),
    Column("dob", "date", f"date '1930-01-01' + {_random(9, 28000)}::int"),
    Column(
        "address_line1",
        "string",
        f"printf('%d %s street', {_random(10, 9999, changes=True)}, {_pick(_LAST, 11)})",
    ),
    Column(
        "address_line2",
        "string",
        f"if({_random(12, 10)} < 7, null, printf('suite %d', {_random(13, 900)}))",
    ),
    Column("postal_code", "string", f"printf('%05d', {_random(14, 99999, changes=True)})"),
    Column("city", "string", _pick(_CITY, 15, changes=True)),
    Column("country", "string", _pick(_COUNTRY, 16)),
    Column("phone1", "string", _phone(17)),
    Column("phone2", "string", f"if((f = 1) = (id % 2 = 0), {_phone(19)}, null)"),
    Column("email1", "string", f"lower({_pick(_FIRST, 5)}) || '.' || id || '@example.com'"),
    Column("national_tax_rate", "decimal(6,5)", f"({_random(21, 50000)} / 100000)::decimal(6,5)"),
    Column("local_tax_rate", "decimal(6,5)", f"({_random(22, 30000)} / 100000)::decimal(6,5)"),
    Column("credit_rating", "int", f"(300 + {_random(23, 550, changes=True)})::int"),
    Column(
        "net_worth",
        "decimal(18,2)",
        f"((({_random(24, 100_000_000)} + u * 100003)) / 100)::decimal(18,2)",
    ),
)


# When a version began at the source; it orders the changes of its key.
SEQUENCE = Column("changed_at", "timestamp", "since")


def columns_of(load: Workload) -> tuple[Column, ...]:
    """Return the columns of a dimension, its key first."""
    return (*KEYS[load.key_type], *CONTENT, *((SEQUENCE,) if load.sequence else ()))


def keys_of(key_type: str) -> tuple[str, ...]:
    """Return the names of the key."""
    return tuple(column.name for column in KEYS[key_type])


def select_list(load: Workload) -> str:
    """Return the dimension's columns over a relation that has `id`, `u`, `f` and `since`."""
    return ", ".join(f"{c.content} AS {c.name}" for c in columns_of(load))
