"""Changes of a contract that a table does not allow are refused; the others are not."""

import pytest

from lakekit.contract.contract import Contract, load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.sql.evolve import evolve_table
from lakekit.sql.tables import table_properties
from lakekit.table_properties import CONTRACT, RENAMES


def keyed(keys: str, *columns: str, history: str = "") -> Contract:
    named = ", ".join(f"{{name: {column}, type: int}}" for column in columns)
    return load_contract(
        "contract: orders\nsource: shop\nendpoint: {path: /orders}\n"
        f"schema: [{named}]\nhistory: {{keys: [{keys}]{history}}}\n"
    )


def evolve_keys(before: Contract, after: Contract, *columns: str) -> list[str]:
    known = dict.fromkeys(columns, "int")
    return evolve_table(after, "lake.d.orders", known, properties=table_properties(before))


@pytest.mark.parametrize(
    ("before", "after"), [("a", "b"), ("a", "a, b"), ("a, b", "a"), ("a, b", "b, c")]
)
def test_a_table_whose_keys_are_others_is_refused(before: str, after: str) -> None:
    """dbt-core #2350: the meaning of a history changes silently."""
    with pytest.raises(SchemaMismatchError, match=f"keys {before} cannot become {after};"):
        evolve_keys(keyed(before, "a", "b", "c"), keyed(after, "a", "b", "c"), "a", "b", "c")


def test_a_table_that_appends_by_keys_is_refused_without() -> None:
    by_keys, all_of_it = (keyed(keys, "a", "b", history=", mode: append") for keys in ("a", ""))

    assert evolve_keys(all_of_it, all_of_it, "a", "b") == []
    with pytest.raises(SchemaMismatchError, match="keys a cannot become none;"):
        evolve_keys(by_keys, all_of_it, "a", "b")


@pytest.mark.parametrize("after", ["b, a", "a, B"])
def test_order_and_case_of_keys_do_not_count(after: str) -> None:
    contract = keyed(after, *after.split(", "))

    (statement,) = evolve_keys(keyed("a, b", "a", "b"), contract, "a", "b")

    assert recorded(contract) in statement


RENAMED = "key, renamed_from: a"


@pytest.mark.parametrize("known", ["a", "A", "key"])
def test_a_renamed_column_stays_a_key_and_is_recorded_as_one_even_after_a_crash(known: str) -> None:
    contract = keyed("key, b", RENAMED, "b")
    statements = evolve_keys(keyed("a, b", "a", "b"), contract, known, "b")

    renaming = [f"ALTER TABLE `lake`.`d`.`orders` RENAME COLUMN `{known}` TO `key`"]
    assert statements[1:-1] == (renaming if known != "key" else [])
    assert recorded(contract) in statements[-1]


def test_a_key_does_not_pass_to_a_column_that_was_there_with_it() -> None:
    """That `renamed_from` has no effect any more."""
    with pytest.raises(SchemaMismatchError, match="keys a cannot become key;"):
        evolve_keys(keyed("a", "a", "key"), keyed("key", RENAMED), "a", "key")


def test_a_key_whose_name_is_used_again_is_known_after_a_crash_behind_both() -> None:
    properties = table_properties(keyed("a, b", "a", "b")) | RENAMES.write([{"a": "key"}])
    after, columns = keyed("key, b", RENAMED, "a", "b"), dict.fromkeys(("key", "a", "b"), "int")

    (*_, statement) = evolve_table(after, "lake.d.orders", columns, properties=properties)

    assert recorded(after) in statement


def test_a_table_without_the_property_is_not_judged_and_gets_it() -> None:
    contract = keyed("a", "a")
    properties = table_properties(contract)
    del properties[CONTRACT.name]

    statements = evolve_table(contract, "lake.d.orders", {"a": "int"}, properties=properties)

    assert statements == [
        f"ALTER TABLE `lake`.`d`.`orders` SET TBLPROPERTIES ({recorded(contract)})"
    ]


def test_a_property_that_cannot_be_read_is_an_error_with_its_name() -> None:
    properties = table_properties(keyed("a", "a")) | {CONTRACT.name: '{"keys": "a"}'}

    with pytest.raises(SchemaMismatchError, match=r"lakekit\.contract was changed by hand"):
        evolve_table(keyed("a", "a"), "lake.d.orders", {"a": "int"}, properties=properties)


def recorded(contract: Contract) -> str:
    """The contract as a statement writes it to the properties of a table."""
    name = CONTRACT.name
    return f"'{name}' = '{table_properties(contract)[name]}'"


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        (", deletes: close", ", deletes: mark", "deletes: close cannot become mark"),
        (", deletes: mark", ", deletes: ignore", "deletes: mark cannot become ignore"),
        ("", ", mode: append", "its mode scd2 cannot become append"),
        (", mode: append", "", "its mode append cannot become scd2"),
        ("", ", mode: scd1", "its mode scd2 cannot become scd1"),
    ],
)
def test_a_table_that_cannot_hold_what_its_contract_has_become_is_refused(
    before: str, after: str, fault: str
) -> None:
    """Spark #57625: the type of a history cannot change."""
    with pytest.raises(SchemaMismatchError, match=fault):
        evolve_keys(keyed("id", "id", history=before), keyed("id", "id", history=after), "id")


@pytest.mark.parametrize("mode", ["scd1", "scd2"])
@pytest.mark.parametrize(("before", "after"), [("none", "at"), ("at", "none"), ("at", "day")])
def test_a_table_whose_versions_began_by_another_time_is_refused(mode, before, after) -> None:
    with pytest.raises(
        SchemaMismatchError, match=f"its sequence_by {before} cannot become {after};"
    ):
        evolve_times(timed(before, mode), timed(after, mode))


@pytest.mark.parametrize("late", ["exact", "ignore"])
@pytest.mark.parametrize(("before", "after"), [("false", "true"), ("true", "false")])
def test_a_table_whose_journal_holds_other_records_is_refused(late, before, after) -> None:
    """A version that is needed would be lost, or an earlier null become a value."""
    fault = f"ignore_null_updates: {before} cannot become {after};"
    was, becomes = (
        timed("at", more=f", late_changes: {late}, ignore_null_updates: {each}")
        for each in (before, after)
    )
    with pytest.raises(SchemaMismatchError, match=fault):
        evolve_times(was, becomes)


def test_records_may_become_partial_where_no_journal_holds_them() -> None:
    after = timed("none", more=", ignore_null_updates: true")

    assert all("SET TBLPROPERTIES" in each for each in evolve_times(timed("none"), after))


def test_a_table_in_append_mode_may_be_merged_by_another_time() -> None:
    (statement,) = evolve_times(timed("none", "append"), timed("at", "append"))

    assert recorded(timed("at", "append")) in statement


@pytest.mark.parametrize("known", ["at", "changed"])
def test_a_renamed_column_stays_the_time_of_versions_even_after_a_crash(known: str) -> None:
    after = timed("changed", at="changed, renamed_from: at")

    *renaming, properties = evolve_times(timed("at"), after, known=known)

    assert recorded(after) in properties
    assert len([each for each in renaming if "RENAME" in each]) == (known == "at")


def timed(sequence: str, mode: str = "scd2", at: str = "at", more: str = "") -> Contract:
    by = "" if sequence == "none" else f", sequence_by: {sequence}"
    return load_contract(
        "contract: orders\nsource: shop\nendpoint: {path: /orders, extract: incremental}\nschema:\n"
        f"  - {{name: id, type: int}}\n  - {{name: {at}, type: timestamp}}\n"
        f"  - {{name: day, type: date}}\nhistory: {{keys: [id], mode: {mode}{by}{more}}}\n"
    )


def evolve_times(before: Contract, after: Contract, known: str = "at") -> list[str]:
    columns = {"id": "int", known: "timestamp", "day": "date"}
    return evolve_table(after, "lake.d.orders", columns, properties=table_properties(before))


@pytest.mark.parametrize(
    ("before", "after"), [(", mode: scd1", ""), (", deletes: close", ", deletes: ignore")]
)
def test_a_table_that_holds_it_is_merged_by_the_new_options(before: str, after: str) -> None:
    assert evolve_keys(keyed("id", "id", history=before), keyed("id", "id", history=after), "id")
