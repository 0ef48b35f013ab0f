"""All faults of a contract file are reported at once, and none of them twice."""

import pytest

from tests.unit.contract.people import GOOD, faults


def test_reports_every_option_that_does_not_fit_the_schema():
    text = GOOD.replace("name: order, type: string", "name: d, type: double").replace(
        "keys: [id]", "keys: [nope, d], sequence_by: nope2, except_columns: [zz]"
    )

    assert faults(text) == [
        "history.keys: 'nope' is not a column of the schema",
        "history.keys: 'd' is double, which cannot be a key",
        "history.sequence_by: 'nope2' is not a column of the schema",
        "history.except_columns: 'zz' is not a column of the schema",
    ]


def test_reports_a_wrong_type_with_a_wrong_key():
    text = GOOD.replace("type: string", "type: strng").replace("keys: [id]", "keys: [nope, order]")

    assert faults(text) == [
        "schema.1.type: 'strng' is not a Spark SQL type: 'strng' is unknown",
        "history.keys: 'nope' is not a column of the schema",
    ]


def test_reports_one_wrong_type_once():
    text = GOOD.replace("type: int}, {name: order, type: string}", "type: integr}")

    assert faults(text) == ["schema.0.type: 'integr' is not a Spark SQL type: 'integr' is unknown"]


def test_reports_columns_that_stand_twice_with_other_faults():
    text = GOOD.replace("type: string}", "type: string}, {name: ID, type: int}, {name: ORDER}")

    assert faults(text.replace("keys: [id]", "mode: scd1, keys: [id], deletes: mark")) == [
        "schema.2.name: id stands twice (case does not count)",
        "schema.3.name: order stands twice (case does not count)",
        "schema.3.type: Field required",
        "history.deletes: mark needs mode scd2; other modes have no versions to mark",
    ]


def test_reports_options_that_disagree_and_an_unknown_one_together():
    options = "track_history_columns: [order], track_history_except: [order], deletes: mark"

    assert faults(GOOD.replace("keys: [id]", f"keyz: [id], mode: scd1, {options}")) == [
        "history: keys: scd1 needs at least one column",
        "history.keyz: unknown field; did you mean 'keys'?",
        "history.track_history_except: give track_history_columns or track_history_except, "
        "not both",
        "history.deletes: mark needs mode scd2; other modes have no versions to mark",
    ]


@pytest.mark.parametrize(
    ("old", "new", "only"),
    [
        ("keys: [id]", "keys: id", "history.keys: Input should be a valid tuple"),
        ("keys: [id]", "keys: [3]", "history.keys.0: must be text, but YAML reads it as 3"),
        ("keys: [id]", "keys: ['i-d']", "history.keys.0: the name of a column must be"),
        ("keys: [id]", "mode: scd3", "history.mode: Input should be 'scd2', 'scd1' or 'append'"),
        ("keys: [id]", "keys: [id], tie_break: [3]", "history.tie_break.0: must be text"),
        ("keys: [id]", "keys: [id], tie_break: id", "history.tie_break: must be a list"),
        ("keys: [id]", "keys: [id], tie_break: {a: 1}", "history.tie_break: Input should be a"),
        ("history: {keys: [id]}", "history: [id]", "history: Input should be a valid dictionary"),
        ("history: {keys: [id]}", "", "history: Field required"),
        ("name: id", "name: 3", "schema.0.name: must be text, but YAML reads it as 3"),
        ("name: id,", "", "schema.0.name: Field required"),
        ("name: order", "name: __order", "schema.1.name: '__order' is a control column"),
        ("{name: order, type: string}", "order", "schema.1: Input should be a valid dictionary"),
        ("schema: [", "schema: []\ndescription: [", "schema: Tuple should have at least 1 item"),
        ("path: /people", "path: /p, paginator: {type: offset}", "endpoint.paginator.limit: Field"),
        ("type: int}", "type: double}", "history.keys: 'id' is double, which cannot be a key"),
    ],
)
def test_makes_no_second_fault_of_one(old, new, only):
    lines = [line for line in faults(GOOD.replace(old, new)) if not line.startswith("description")]

    assert len(lines) == 1, lines
    assert lines[0].startswith(only)
