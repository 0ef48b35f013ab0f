"""Types as a contract writes them: which there are, and which widen."""

import pytest

from lakekit.contract.sqltypes import can_widen, parse_type


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
