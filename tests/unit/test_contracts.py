from pathlib import Path

import pytest
from pydantic import ValidationError

from lakekit.contracts import Contract, history_faults, load_contract
from lakekit.errors import InvalidContractError
from lakekit.history import History
from lakekit.sqltypes import can_widen, parse_type

GOOD = """
contract: people
source: people_api
endpoint: {path: /people}
schema: [{name: id, type: int}, {name: order, type: string}]
history: {keys: [id]}
"""


def test_loads_the_contract_that_ships():
    contract = load_contract(Path("config/contracts/airports.yaml").read_text())

    assert contract.keys == ("icao",)
    assert [column.name for column in contract.tracked[:2]] == ["iata", "name"]
    assert contract.maintenance.snapshots.min_to_keep == 5


def test_reports_every_fault_with_its_path():
    text = GOOD.replace("contract: people", "contract: People").replace("type: int", "type: integr")

    with pytest.raises(InvalidContractError) as fault:
        load_contract(text, name="people.yaml")

    assert "people.yaml: contract: " in str(fault.value)
    assert "people.yaml: schema.0.type: 'integr' is not a Spark SQL type" in str(fault.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("keys: [id]", "keyz: [id]", "unknown field; did you mean 'keys'?"),
        ("keys: [id]", "keys: []", "history: keys: scd2 needs at least one column"),
        ("keys: [id]", "keys: [nope]", "'nope' is not a column"),
        ("keys: [id]", "keys: [id, id]", "stands twice"),
        ("type: int}", "type: double}", "which cannot be a key"),
        ("name: order", "name: ID", "id stands twice"),
        ("name: order", "name: _op", "control column"),
        ("name: order", "name: _valid_from", "control column"),
        ("name: order", 'name: "x`; DROP TABLE y; --"', "schema.1.name"),
        ("contract: people", "contract: ../../other", "contract: String should match"),
        (
            "contract: people",
            "contract: people\ncontract: other",
            "the key 'contract' stands twice",
        ),
        ("source: people_api", "source: &a people_api\nversion: *a", "aliases are not allowed"),
        ("source: people_api", "source: !!python/object:os.x {}", "could not determine"),
        ("path: /people", "path: https://other.example/x", "endpoint.path"),
        ("type: string", "type: 'decimal(40,2)'", "at most"),
        ("type: string", "type: 'map<int,int>'", "the keys of a map must be string"),
        ("type: string", "type: 'array<map<date,int>>'", "the keys of a map must be string"),
        ("history: {", "history: {max_deleted_ratio: 2, ", "history.max_deleted_ratio"),
    ],
)
def test_refuses(old, new, message):
    with pytest.raises(InvalidContractError, match=message.replace("?", r"\?")):
        load_contract(GOOD.replace(old, new))


def faults(text: str) -> list[str]:
    with pytest.raises(InvalidContractError) as fault:
        load_contract(text, name="people.yaml")
    return [line.removeprefix("people.yaml: ") for line in str(fault.value).splitlines()]


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


def test_reports_a_wrong_type_beside_a_wrong_key():
    text = GOOD.replace("type: string", "type: strng").replace("keys: [id]", "keys: [nope, order]")

    assert faults(text) == [
        "schema.1.type: 'strng' is not a Spark SQL type: 'strng' is unknown",
        "history.keys: 'nope' is not a column of the schema",
    ]


def test_reports_one_wrong_type_once():
    text = GOOD.replace("type: int}, {name: order, type: string}", "type: integr}")

    assert faults(text) == ["schema.0.type: 'integr' is not a Spark SQL type: 'integr' is unknown"]


def test_reports_columns_that_stand_twice_beside_other_faults():
    text = GOOD.replace("type: string}", "type: string}, {name: ID, type: int}, {name: ORDER}")

    assert faults(text.replace("keys: [id]", "mode: scd1, keys: [id], deletes: mark")) == [
        "schema.2.name: id stands twice (case does not count)",
        "schema.3.name: order stands twice (case does not count)",
        "schema.3.type: Field required",
        "history.deletes: mark needs mode scd2; other modes have no versions to mark",
    ]


def test_reports_options_that_disagree_beside_each_other_and_an_unknown_one():
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
        ("keys: [id]", "keys: [3]", "history.keys.0: Input should be a valid string"),
        ("keys: [id]", "keys: ['i-d']", "history.keys.0: String should match pattern"),
        ("keys: [id]", "mode: scd3", "history.mode: Input should be 'scd2', 'scd1' or 'append'"),
        ("keys: [id]", "keys: [id], tie_break: [3]", "history.tie_break.0: Input should be a"),
        ("keys: [id]", "keys: [id], tie_break: id", "history.tie_break: Input should be 'quar"),
        ("keys: [id]", "keys: [id], tie_break: {a: 1}", "history.tie_break: Input should be a"),
        ("history: {keys: [id]}", "history: [id]", "history: Input should be a valid dictionary"),
        ("history: {keys: [id]}", "", "history: Field required"),
        ("name: id", "name: 3", "schema.0.name: Input should be a valid string"),
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


def test_refuses_a_combination_without_a_file_too():
    contract = load_contract(GOOD)

    with pytest.raises(ValidationError, match=r"history\.keys: 'nope' is not a column"):
        Contract(**{**vars(contract), "history": History(keys=("nope",))})
    with pytest.raises(ValidationError, match=r"keys: scd2 needs at least one column"):
        History()
    with pytest.raises(ValidationError, match=r"schema\.1\.name: id stands twice"):
        Contract(**{**vars(contract), "columns": contract.columns[:1] * 2})


def test_names_each_fault_of_a_history_that_does_not_fit():
    contract = load_contract(GOOD)
    history = History(
        keys=("id", "id"),
        delete_scope=("gone",),
        except_columns=("id", "order"),
        sequence_by="order",
    )

    assert [str(fault) for fault in history_faults(history, contract.columns)] == [
        "history.keys: a column stands twice",
        "history.delete_scope: 'gone' is not a column of the schema",
        "history.sequence_by: 'order' is string; it must be one of timestamp, timestamp_ntz, date",
        "history.except_columns: 'id' is a key and must be stored",
        "history.except_columns: 'order' orders the records and must be stored",
    ]


@pytest.mark.parametrize("text", ["", "# nothing", "[1]", "a: [", "\x00"])
def test_refuses_what_is_not_a_mapping(text):
    with pytest.raises(InvalidContractError):
        load_contract(text)


def test_accepts_a_byte_order_mark_and_windows_lines():
    assert load_contract("\ufeff" + GOOD.replace("\n", "\r\n")).contract == "people"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("ARRAY < STRING >", "array<string>"),
        (
            "map<string,array<struct<a:int,b:numeric(4)>>>",
            "map<string,array<struct<a:int,b:decimal(4,0)>>>",
        ),
        ("decimal", "decimal(10,0)"),
        ("long", "bigint"),
        ("TIMESTAMP_LTZ", "timestamp"),
        ("varchar(20)", "string"),
        ("array<char(2)>", "array<string>"),
        ("struct<a int, b: string>", "struct<a:int,b:string>"),
        ("struct<a:int NOT NULL, b int>", "struct<a:int,b:int>"),
        ("struct<a:int comment 'it\\'s, <a>', b int>", "struct<a:int,b:int>"),
        ('struct<a int NOT NULL COMMENT "x">', "struct<a:int>"),
        ("struct<`a`:int,`a b` int,`c``d`:int>", "struct<a:int,`a b`:int,`c``d`:int>"),
    ],
)
def test_parses_types(text, canonical):
    assert str(parse_type(text)) == canonical
    assert parse_type(canonical) == parse_type(text)


def test_a_quoted_field_is_known_by_its_name():
    assert [name for name, _ in parse_type("struct<`c``d`:int,`a b`:int>").fields] == ["c`d", "a b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("interval day to second", "no table of Iceberg holds 'interval'; use string or bigint"),
        ("struct<a:variant>", "no table of Iceberg holds 'variant'; use string"),
        ("void", "no table of Iceberg holds 'void'; use the type it will have"),
        ("varchar", r"varchar needs one length, as in varchar\(10\); or use string"),
        ("decimal(1,2,3)", "a decimal has 1 to 38 digits"),
    ],
)
def test_says_what_to_use_instead_of_a_type_that_no_table_holds(text, message):
    with pytest.raises(ValueError, match=message):
        parse_type(text)


@pytest.mark.parametrize(
    "text",
    ["", "array<", "map<string>", "int int", "x;y", "struct<>", "struct<a>", "struct<a:int:b:int>",
     "struct<a:int", "struct<1:int>", "struct<a int not>", "struct<a int comment b>", "decimal(a)"],
)  # fmt: skip
def test_refuses_what_is_no_type(text):
    with pytest.raises(ValueError, match="not a Spark SQL type"):
        parse_type(text)


def partitioned(*fields: str) -> str:
    columns = (
        "{name: id, type: int}, {name: order, type: string}, {name: at, type: timestamp}, "
        "{name: price, type: double}, {name: tags, type: 'array<string>'}, {name: op, type: string}"
    )
    return (
        GOOD.replace("{name: id, type: int}, {name: order, type: string}", columns).replace(
            "keys: [id]", "keys: [id], except_columns: [op]"
        )
        + f"table: {{partition_by: {list(fields)}}}\n"
    )


@pytest.mark.parametrize(
    "field",
    ["id", "`order`", "price", "days(at)", "day(at)", "HOURS( at )", "years(`at`)", "month(at)",
     "bucket(16, id)", "bucket(id, 16)", "truncate(4, order)", "months(_valid_from)"],
)  # fmt: skip
def test_a_table_may_be_split_by_a_column_or_a_transform_of_iceberg(field):
    assert load_contract(partitioned(field)).table.partition_by == (field,)


@pytest.mark.parametrize(
    ("field", "fault"),
    [
        ("nope", "'nope' is not a stored column of the schema"),
        ("op", "'op' is not a stored column of the schema"),
        ("bucket(4, nope)", "'nope' is not a stored column of the schema"),
        ("tags", "'tags' is array<string>, which cannot split a table"),
        ("days(order)", "'order' is string; for days it must be one of date, timestamp, timesta"),
        ("bucket(4, price)", "'price' is double; for bucket it must be one of tinyint, smallint,"),
        *(
            (text, f"'{text}' is not a partition field; write a column, years(col), months(col), ")
            for text in ("week(at)", "bucket(id)", "bucket(0, id)", "days(2, at)", "id) USING x --",
                         "truncate(1, order, 2)", "", "a.b")
        ),
    ],
)  # fmt: skip
def test_refuses_a_partition_field_that_would_fail_in_the_table(field, fault):
    [line] = faults(partitioned(field))

    assert line.startswith(f"table.partition_by.0: {fault}")


def test_refuses_to_split_a_column_by_time_twice():
    assert faults(partitioned("days(at)", "years(at)")) == [
        "table.partition_by.1: 'years(at)' splits 'at' a second time; keep one of the two"
    ]


def test_reports_a_partition_field_beside_a_wrong_key():
    assert faults(partitioned("nope", "x y").replace("keys: [id]", "keys: [gone]")) == [
        "history.keys: 'gone' is not a column of the schema",
        "table.partition_by.0: 'nope' is not a stored column of the schema",
        "table.partition_by.1: 'x y' is not a partition field; write a column, years(col), "
        "months(col), days(col), hours(col), bucket(n, col) or truncate(n, col)",
    ]


@pytest.mark.parametrize(
    ("old", "new", "possible"),
    [
        ("int", "bigint", True),
        ("decimal(5,2)", "decimal(9,2)", True),
        ("decimal(5,2)", "decimal(9,3)", False),
        ("bigint", "int", False),
        ("string", "int", False),
    ],
)
def test_knows_which_types_widen(old, new, possible):
    assert can_widen(parse_type(old), parse_type(new)) is possible
