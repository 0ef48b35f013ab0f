"""What of a table never changes is refused; what its contract may turn to is not."""

import pytest

from lakekit.contract.contract import Contract, load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.sql.renames import EARLIER_NAMES
from lakekit.sql.tables import table_properties
from tests.unit.sql.conftest import evolve_table


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
    """dbt-core #2350: the meaning of a history changes without a word."""
    with pytest.raises(SchemaMismatchError, match=f"keys {before} cannot become {after};"):
        evolve_keys(keyed(before, "a", "b", "c"), keyed(after, "a", "b", "c"), "a", "b", "c")


def test_a_table_that_appends_by_keys_is_refused_without() -> None:
    by_keys, all_of_it = (keyed(keys, "a", "b", history=", mode: append") for keys in ("a", ""))

    assert evolve_keys(all_of_it, all_of_it, "a", "b") == []
    with pytest.raises(SchemaMismatchError, match="keys a cannot become none;"):
        evolve_keys(by_keys, all_of_it, "a", "b")


@pytest.mark.parametrize("after", ["b, a", "a, B"])
def test_order_and_case_of_keys_do_not_count(after: str) -> None:
    (note,) = evolve_keys(keyed("a, b", "a", "b"), keyed(after, *after.split(", ")), "a", "b")

    assert f"'lakekit.keys' = '{after.replace(' ', '')}'" in note


RENAMED = "key, renamed_from: a"


@pytest.mark.parametrize("known", ["a", "A", "key"])
def test_a_renamed_column_stays_a_key_and_is_noted_as_such_even_after_a_crash(known: str) -> None:
    statements = evolve_keys(keyed("a, b", "a", "b"), keyed("key, b", RENAMED, "b"), known, "b")

    renaming = [f"ALTER TABLE `lake`.`d`.`orders` RENAME COLUMN `{known}` TO `key`"]
    assert statements[1:-1] == (renaming if known != "key" else [])
    assert "'lakekit.keys' = 'key,b'" in statements[-1]


def test_a_key_does_not_pass_to_a_column_that_was_there_beside_it() -> None:
    """That `renamed_from` does nothing any more."""
    with pytest.raises(SchemaMismatchError, match="keys a cannot become key;"):
        evolve_keys(keyed("a", "a", "key"), keyed("key", RENAMED), "a", "key")


def test_a_key_whose_name_is_used_again_is_known_after_a_crash_behind_both() -> None:
    properties = table_properties(keyed("a, b", "a", "b")) | {EARLIER_NAMES: '[{"a": "key"}]'}
    after, columns = keyed("key, b", RENAMED, "a", "b"), dict.fromkeys(("key", "a", "b"), "int")

    (*_, told) = evolve_table(after, "lake.d.orders", columns, properties=properties)

    assert "'lakekit.keys' = 'key,b'" in told


def test_a_table_that_does_not_say_its_keys_learns_them() -> None:
    properties = table_properties(keyed("a", "a"))
    del properties["lakekit.keys"]

    statements = evolve_table(keyed("a", "a"), "lake.d.orders", {"a": "int"}, properties=properties)

    told = "SET TBLPROPERTIES ('lakekit.keys' = 'a')"
    assert statements == [f"ALTER TABLE `lake`.`d`.`orders` {told}"]


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
def test_a_table_whose_companion_holds_other_records_is_refused(late, before, after) -> None:
    """A version would be lost that it takes to know, or a null of before be a value now."""
    fault = f"ignore_null_updates: {before} cannot become {after};"
    was, becomes = (
        timed("at", more=f", late_changes: {late}, ignore_null_updates: {each}")
        for each in (before, after)
    )
    with pytest.raises(SchemaMismatchError, match=fault):
        evolve_times(was, becomes)


@pytest.mark.parametrize(("sequence", "mode"), [("none", "scd2"), ("at", "scd1"), ("at", "append")])
def test_records_may_become_partial_where_no_companion_holds_them(sequence, mode) -> None:
    after = timed(sequence, mode, more=", ignore_null_updates: true")

    assert all("SET TBLPROPERTIES" in each for each in evolve_times(timed(sequence, mode), after))


def test_a_table_that_does_not_say_whether_its_records_are_partial_learns_it() -> None:
    properties = table_properties(timed("at"))
    del properties["lakekit.partial"]

    (told,) = evolve_times(timed("at"), timed("at"), properties)

    assert told.endswith("SET TBLPROPERTIES ('lakekit.partial' = 'false')")


def test_what_is_only_appended_may_be_told_apart_by_another_time() -> None:
    (told,) = evolve_times(timed("none", "append"), timed("at", "append"))

    assert "'lakekit.sequence' = 'at'" in told


@pytest.mark.parametrize(("now", "column"), [("none", ""), ("at", "at")])
def test_a_table_that_does_not_say_its_time_learns_it(now: str, column: str) -> None:
    properties = table_properties(timed(now))
    del properties["lakekit.sequence"]

    (told,) = evolve_times(timed(now), timed(now), properties)

    assert told.endswith(f"SET TBLPROPERTIES ('lakekit.sequence' = '{column}')")


@pytest.mark.parametrize("known", ["at", "changed"])
def test_a_renamed_column_stays_the_time_of_versions_even_after_a_crash(known: str) -> None:
    after = timed("changed", at="changed, renamed_from: at")

    *renaming, told = evolve_times(timed("at"), after, known=known)

    assert "'lakekit.sequence' = 'changed'" in told
    assert len([each for each in renaming if "RENAME" in each]) == (known == "at")


def timed(sequence: str, mode: str = "scd2", at: str = "at", more: str = "") -> Contract:
    by = "" if sequence == "none" else f", sequence_by: {sequence}"
    return load_contract(
        "contract: orders\nsource: shop\nendpoint: {path: /orders}\nschema:\n"
        f"  - {{name: id, type: int}}\n  - {{name: {at}, type: timestamp}}\n"
        f"  - {{name: day, type: date}}\nhistory: {{keys: [id], mode: {mode}{by}{more}}}\n"
    )


def evolve_times(
    before: Contract, after: Contract, properties: dict[str, str] | None = None, known: str = "at"
) -> list[str]:
    columns = {"id": "int", known: "timestamp", "day": "date"}
    told = table_properties(before) if properties is None else properties
    return evolve_table(after, "lake.d.orders", columns, properties=told)


@pytest.mark.parametrize(
    ("before", "after"), [(", mode: scd1", ""), (", deletes: close", ", deletes: ignore")]
)
def test_a_table_that_holds_it_is_merged_by_the_new_options(before: str, after: str) -> None:
    assert evolve_keys(keyed("id", "id", history=before), keyed("id", "id", history=after), "id")
