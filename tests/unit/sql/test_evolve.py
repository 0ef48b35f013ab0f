from typing import Any

import pytest

from lakekit.contracts import Contract, load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.sql import evolve as evolving
from lakekit.sql.evolve import evolve_columns
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.tables import create_table, table_properties

CONTRACT = load_contract(
    "contract: orders\nsource: shop\nendpoint: {path: /orders, extract: changes}\n"
    "schema: [{name: id, type: int}, {name: price, type: int}, {name: op, type: string}]\n"
    "history: {keys: [id], apply_as_deletes: op = 'D', except_columns: [op]}\n"
)


def evolve_table(
    contract: Contract, table: str, columns: dict[str, str], **known: Any
) -> list[str]:
    """Evolve a table with digests of lines; see below for one without."""
    columns = columns | dict.fromkeys(DIGEST, "bigint")
    return evolving.evolve_table(contract, table, columns, **known)


def evolve(columns: dict[str, str]) -> list[str]:
    return evolve_table(CONTRACT, "lake.d.orders", columns, properties=table_properties(CONTRACT))


def test_a_table_that_is_as_its_contract_says_stays_and_gets_no_column_that_is_not_stored() -> None:
    assert evolve({"id": "int", "price": "int"}) == []


def test_a_column_is_known_as_later_before_it_is_added() -> None:
    assert evolve({"id": "int"}) == [
        "ALTER TABLE `lake`.`d`.`orders` SET TBLPROPERTIES "
        "('lakekit.later-columns' = 'price', 'lakekit.evolved' = '1')",
        "ALTER TABLE `lake`.`d`.`orders` ADD COLUMN `price` int",
    ]


def test_a_later_column_is_filled_into_what_was_told_before_it() -> None:
    known, newest = table_properties(CONTRACT), "2026-01-05 00:00:00"

    told = evolve_table(CONTRACT, "lake.d.o", {"id": "int"}, properties=known, newest=newest)

    assert f"'lakekit.later-columns-until' = '{newest}'" in told[0]


def test_a_crash_before_a_column_is_added_changes_nothing_of_what_follows() -> None:
    known = {"lakekit.later-columns": "old,price", "lakekit.evolved": "1"}
    properties = table_properties(CONTRACT) | known

    statements = evolve_table(CONTRACT, "lake.d.orders", {"id": "int"}, properties=properties)

    assert statements == [
        "ALTER TABLE `lake`.`d`.`orders` SET TBLPROPERTIES ('lakekit.evolved' = '2')",
        "ALTER TABLE `lake`.`d`.`orders` ADD COLUMN `price` int",
    ]


def test_a_table_that_is_older_than_the_digests_of_lines_gets_them() -> None:
    columns = {"id": "int", "price": "int", "_line_hash": "bigint"}

    (told,) = evolving.evolve_table(
        CONTRACT, "lake.d.o", columns, properties=table_properties(CONTRACT)
    )

    assert told.startswith("ALTER TABLE `lake`.`d`.`o` ADD COLUMN `_line_check` bigint COMMENT")


def test_a_column_that_the_contract_writes_in_other_case_is_not_later() -> None:
    assert evolve({"id": "int", "PRICE": "int"}) == []


SPLIT = load_contract(
    "contract: orders\nsource: shop\nendpoint: {path: /orders}\n"
    "schema: [{name: id, type: int}, {name: at, type: timestamp}, {name: order, type: string}]\n"
    "history: {keys: [id]}\ntable: {partition_by: ['day(at)', 'bucket(4,id)', order]}\n"
)
COLUMNS = {column.name: column.type for column in SPLIT.columns}


def test_partition_fields_are_quoted_when_a_table_is_made() -> None:
    wanted = "PARTITIONED BY (`_is_current`, days(`at`), bucket(4, `id`), `order`)"

    assert wanted in create_table(SPLIT, "lake.d.orders").splitlines()


@pytest.mark.parametrize(
    ("known", "added"),
    [
        (["_is_current", "days(at)", "bucket(4, id)", "order"], []),
        (["days(`AT`)", "bucket(id, 4)", "void(x.y)", "`order`"], []),
        (["years(at)", "bucket(8, id)"], ["days(`at`)", "bucket(4, `id`)", "`order`"]),
    ],
)
def test_only_partition_fields_that_a_table_lacks_are_added(
    known: list[str], added: list[str]
) -> None:
    statements = evolve_table(
        SPLIT, "lake.d.orders", COLUMNS, properties=table_properties(SPLIT), partition=known
    )

    alter = "ALTER TABLE `lake`.`d`.`orders` ADD PARTITION FIELD"
    assert statements == [f"{alter} {field}" for field in added]


def test_a_quoted_field_of_a_struct_is_added_with_its_quotes() -> None:
    wide = load_contract(
        "contract: orders\nsource: shop\nendpoint: {path: /orders}\n"
        "schema: [{name: id, type: int}, {name: s, type: 'struct<a:int,`b c`:int>'}]\n"
        "history: {keys: [id]}\n"
    )
    columns = {"id": "int", "s": "struct<a:int>"}

    statements = evolve_table(wide, "lake.d.orders", columns, properties=table_properties(wide))

    assert statements[1:] == ["ALTER TABLE `lake`.`d`.`orders` ADD COLUMN `s`.`b c` int"]


def evolve_type(old: str, new: str, *, names_only: bool = False) -> list[str]:
    """Evolve a tracked column; of an old table the properties say the names only."""
    before, after = (
        load_contract(
            "contract: orders\nsource: shop\nendpoint: {path: /orders}\n"
            f"schema: [{{name: id, type: int}}, {{name: s, type: '{kind}'}}]\n"
            "history: {keys: [id]}\n"
        )
        for kind in (old, new)
    )
    properties = table_properties(before)
    if names_only:
        properties.pop("lakekit.tracked-fields", None)
    columns = {column.name: column.type for column in before.stored}
    return evolve_table(after, "lake.d.orders", columns, properties=properties)


def hashes_anew(statements: list[str]) -> bool:
    return any(each.startswith("UPDATE ") for each in statements)


def fields_told(statements: list[str]) -> str:
    text = "SET TBLPROPERTIES ('lakekit.tracked-fields' = '"
    return statements[-1].partition(text)[2].removesuffix("')")


@pytest.mark.parametrize("around", ["{}", "array<{}>", "map<string,{}>", "struct<x:int,y:{}>"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("struct<a:int>", "struct<a:int,b:int>"),
        ("struct<a:int,b:int>", "struct<b:int,a:int>"),
        ("struct<a:int,b:int>", "struct<a:int>"),
        ("struct<`a,b:int`:int>", "struct<`a,b:int`:int,b:int>"),
    ],
)
def test_current_versions_are_hashed_anew_if_the_fields_of_a_struct_change(
    around: str, old: str, new: str
) -> None:
    statements = evolve_type(around.format(old), around.format(new))

    assert hashes_anew(statements)
    assert fields_told(statements) == f"s:{around.format(new)}"


@pytest.mark.parametrize("around", ["{}", "array<{}>", "map<string,{}>", "struct<x:{}>"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tinyint", "int"),
        ("int", "bigint"),
        ("float", "double"),
        ("decimal(10,2)", "decimal(12,2)"),
        ("struct<a:int,B:int>", "struct<A:bigint,b:int>"),
    ],
)
def test_no_version_is_hashed_anew_if_a_type_is_widened(around: str, old: str, new: str) -> None:
    assert not hashes_anew(evolve_type(around.format(old), around.format(new)))


@pytest.mark.parametrize(
    "kind", ["struct<a:int>", "array<struct<a:int>>", "map<int,struct<a:int>>"]
)
def test_a_table_that_knows_names_only_is_hashed_anew_if_it_holds_structs(kind: str) -> None:
    statements = evolve_type(kind, kind, names_only=True)

    assert hashes_anew(statements)
    assert fields_told(statements) == f"s:{kind}"


@pytest.mark.parametrize("kind", ["int", "decimal(9,2)", "array<int>", "map<string,array<int>>"])
def test_a_table_that_knows_names_only_stays_if_it_holds_no_structs(kind: str) -> None:
    assert evolve_type(kind, kind, names_only=True) == []


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


def timed(sequence: str, mode: str = "scd2", at: str = "at") -> Contract:
    by = "" if sequence == "none" else f", sequence_by: {sequence}"
    return load_contract(
        "contract: orders\nsource: shop\nendpoint: {path: /orders}\nschema:\n"
        f"  - {{name: id, type: int}}\n  - {{name: {at}, type: timestamp}}\n"
        f"  - {{name: day, type: date}}\nhistory: {{keys: [id], mode: {mode}{by}}}\n"
    )


def evolve_times(
    before: Contract, after: Contract, properties: dict[str, str] | None = None, known: str = "at"
) -> list[str]:
    columns = {"id": "int", known: "timestamp", "day": "date"}
    told = table_properties(before) if properties is None else properties
    return evolve_table(after, "lake.d.orders", columns, properties=told)


@pytest.mark.parametrize(
    ("before", "after"), [(", mode: scd1", ""), (", deletes: mark", ", deletes: ignore")]
)
def test_a_table_that_holds_it_is_merged_by_the_new_options(before: str, after: str) -> None:
    assert evolve_keys(keyed("id", "id", history=before), keyed("id", "id", history=after), "id")


def test_an_old_name_may_be_given_to_another_column() -> None:
    contract = load_contract(
        "contract: o\nsource: s\nendpoint: {path: /o}\nschema:\n  - {name: id, type: int}\n"
        "  - {name: city, type: int}\n  - {name: town, type: string, renamed_from: City}\n"
        "history: {keys: [id]}\n"
    )

    told = evolve_columns(contract, "lake.d.o", {"id": "int", "CITY": "string"})

    assert told == [
        "ALTER TABLE `lake`.`d`.`o` RENAME COLUMN `CITY` TO `town`",
        "ALTER TABLE `lake`.`d`.`o` ADD COLUMN `city` int",
    ]
    assert (
        evolve_columns(contract, "lake.d.o", {"id": "int", "city": "int", "town": "string"}) == []
    )
