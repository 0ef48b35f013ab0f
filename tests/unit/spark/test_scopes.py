"""The scopes of an extract are told by the names of its time, and known by those of today."""

import json

import pytest

from lakekit.contract.contract import Contract, load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.spark.journal import known_scopes
from lakekit.sql.renames import EARLIER_NAMES, noted_names, renamings


def scoped(*columns: str) -> Contract:
    named = ", ".join(f"{{name: {column}, type: int}}" for column in ("id", *columns))
    return load_contract(
        "contract: o\nsource: s\nendpoint: {path: /o}\n"
        f"schema: [{named}, {{name: at, type: date}}]\n"
        f"history: {{keys: [id], sequence_by: at, delete_scope: [{', '.join(columns)}]}}\n"
    )


@pytest.mark.parametrize(
    ("told", "now"),
    [('{"a":1,"b":2}', '{"b":1,"c":2}'), ('{"c":2,"B":1}', '{"b":1,"c":2}'),
     ('{"t":1,"c":2}', '{"b":1,"c":2}')],
)  # fmt: skip
def test_a_name_that_another_scope_had_is_the_column_of_its_time(told: str, now: str) -> None:
    steps = [{"b": "c", "a": "b"}, {"b": "t"}, {"t": "b"}]

    assert known_scopes([told], scoped("b", "c"), steps) == (now,)


def test_a_table_that_noted_no_steps_tells_what_names_became() -> None:
    properties = {EARLIER_NAMES: '{"a": "b", "b": "c"}'}

    assert known_scopes(['{"a":1}'], scoped("c"), renamings(properties)) == ('{"c":1}',)


def test_scopes_cannot_exchange_their_names() -> None:
    properties = {EARLIER_NAMES: json.dumps([{"a": "t"}, {"b": "a"}])}

    with pytest.raises(SchemaMismatchError, match="b, a of delete_scope cannot exchange"):
        noted_names(scoped("b", "a"), "lake.d.o", {"t": "b"}, properties)


def test_a_step_that_a_crash_cut_short_is_noted_once() -> None:
    properties = {EARLIER_NAMES: json.dumps([{"b": "c", "a": "b"}])}

    assert noted_names(scoped("b", "c"), "lake.d.o", {"A": "b"}, properties) == {}
