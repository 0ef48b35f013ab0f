"""The scopes of an extract have the names of its time; they are compared by those of today."""

import pytest

from lakekit.contract.contract import Contract, load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.spark.journal import scopes_of_today
from lakekit.sql.renames import recorded_renames
from lakekit.table_properties import RENAMES


def scoped(*columns: str) -> Contract:
    named = ", ".join(f"{{name: {column}, type: int}}" for column in ("id", *columns))
    return load_contract(
        "contract: o\nsource: s\nendpoint: {path: /o}\n"
        f"schema: [{named}, {{name: at, type: date}}]\n"
        f"history: {{keys: [id], sequence_by: at, delete_scope: [{', '.join(columns)}]}}\n"
    )


@pytest.mark.parametrize(
    ("recorded", "now"),
    [('{"a":1,"b":2}', '{"b":1,"c":2}'), ('{"c":2,"B":1}', '{"b":1,"c":2}'),
     ('{"t":1,"c":2}', '{"b":1,"c":2}')],
)  # fmt: skip
def test_a_name_that_another_scope_had_is_the_column_of_its_time(recorded: str, now: str) -> None:
    steps = [{"b": "c", "a": "b"}, {"b": "t"}, {"t": "b"}]

    assert scopes_of_today([recorded], scoped("b", "c"), steps) == (now,)


def test_scopes_cannot_exchange_their_names() -> None:
    properties = RENAMES.write([{"a": "t"}, {"b": "a"}])

    with pytest.raises(SchemaMismatchError, match="b, a of delete_scope cannot exchange"):
        recorded_renames(scoped("b", "a"), "lake.d.o", {"t": "b"}, properties)


def test_a_step_that_a_crash_cut_short_is_noted_once() -> None:
    properties = RENAMES.write([{"b": "c", "a": "b"}])

    assert recorded_renames(scoped("b", "c"), "lake.d.o", {"A": "b"}, properties) == {}
