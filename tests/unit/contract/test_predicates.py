"""Conditions of a contract: what Spark takes for one, and what it refuses or misunderstands."""

import pytest

from lakekit.contract.checks import NamedType
from lakekit.contract.predicates import predicate_faults
from lakekit.contract.sqltypes import parse_type

TYPES = {
    "op": "string",
    "n": "int",
    "open": "boolean",
    "at": "timestamp",
    "tags": "array<string>",
    "props": "map<string,int>",
    "meta": "struct<op:string,Inner:struct<open:boolean>>",
    "items": "array<struct<op:string>>",
    "from": "string",
}
COLUMNS = [NamedType(name, parse_type(kind)) for name, kind in TYPES.items()]
NO_SQL = (
    "not an expression of Spark SQL; write a condition such as op = 'D', with words of SQL as "
    "names in backticks"
)
NO_COLUMN = (
    "it names no column, so that it is the same for all records; write a condition such as op = 'D'"
)
OTHERS = "it asks for other records; write a condition such as op = 'D', on the columns of one"


def faults(text: str) -> list[str]:
    return list(predicate_faults(text, COLUMNS))


@pytest.mark.parametrize(
    "text",
    [
        "op = 'D'",
        'OP == "D" -- a comment',
        "`op` <=> 'D' AND NOT open",
        "!open OR n IN (1, 2L) AND op RLIKE '^D'",
        "`from` = 'D'",
        "meta.op = 'D'",
        "`meta`.inner.open",
        "meta['op'] = 'D'",
        "props.op = 1 AND props['op'] = 1",
        "items.op[0] = 'D' AND items[0].op = 'D'",
        "exists(items, i -> i.op = 'D')",
        "aggregate(tags, false, (found, tag) -> found OR tag = 'D')",
        "CASE op WHEN 'D' THEN true ELSE false END",
        "if(op = 'D', true, open)",
        "coalesce(open, op LIKE ANY ('D', 'd%'), false)",
        "op IS NULL OR isnull(at) OR at IS NOT NULL",
        "n BETWEEN 1 AND 2 OR (op, n) IN (('D', 1))",
        "startswith(op, 'D') AND array_contains(tags, 'D')",
        "boolean(op) AND CAST(n AS boolean)",
        "at < now() - INTERVAL '30' DAY",
        "dateadd(DAY, 1, at) > current_date",
        "date_trunc('HOUR', at) = at AND extract(HOUR FROM at) = 0",
        # Spark alone knows whether there is such a function, and what it returns.
        "is_tombstone(op)",
    ],
)
def test_takes_a_condition(text: str) -> None:
    assert faults(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "op =",
        "op = 'D",
        "op = 'D' AND",
        "op = 'D') OR (open",
        "op equals 'D'",
        "op = 'D' AS deleted",
        "op, n",
        "op = 'D'; DROP TABLE people",
        "op = 'D';",
        "op IN ()",
        "op = ${deleted}",
        "op = :deleted",
        "n::string = '1'",
        "from = 'D'",
        "lambda record: record",
        "DELETE FROM people",
    ],
)
def test_refuses_what_is_no_expression(text: str) -> None:
    assert faults(text) == [NO_SQL]


@pytest.mark.parametrize("text", ["true", "1 = 1", "'D'", "1", "\"op\" = 'D'", "current_date"])
def test_refuses_what_is_the_same_for_all_records(text: str) -> None:
    assert faults(text) == [NO_COLUMN]


@pytest.mark.parametrize(
    "text",
    [
        "op IN (SELECT op FROM people)",
        "(SELECT true)",
        "max(op) = 'D'",
        "count(*) > 1",
        "lag(op) OVER (ORDER BY n) = 'D'",
    ],
)
def test_refuses_what_depends_on_other_records(text: str) -> None:
    assert faults(text) == [OTHERS]


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("operation = 'D'", "operation"),
        ("op = D", "D"),
        ("yes", "yes"),
        ("people.op = 'D'", "people.op"),
        ("`meta.op` = 'D'", "`meta.op`"),
        ("meta.kind = 'D' OR meta.kind = 'T'", "meta.kind"),
        ("op.kind = 'D'", "op.kind"),
    ],
)
def test_refuses_what_is_no_column(text: str, unknown: str) -> None:
    assert faults(text) == [f"'{unknown}' is not a column of the schema"]


@pytest.mark.parametrize(
    ("text", "part", "kind"),
    [
        ("op", "op", "string"),
        ("(n)", "n", "int"),
        ("n + 1", "n + 1", "int"),
        ("NOT at", "at", "timestamp"),
        ("op = 'D' OR 'T'", "'T'", "string"),
        ("open AND (n = 1 OR op)", "op", "string"),
        ("meta.inner", "meta.inner", "struct<open: boolean>"),
        ("lower(op)", "LOWER(op)", "string"),
        ("CASE WHEN op = 'D' THEN 1 ELSE 0 END", "CASE WHEN op = 'D' THEN 1 ELSE 0 END", "int"),
        ("CAST(op AS int)", "CAST(op AS INT)", "int"),
    ],
)
def test_refuses_what_is_neither_true_nor_false(text: str, part: str, kind: str) -> None:
    wanted = f"{part} is {kind}, not boolean; write a condition such as op = 'D'"

    assert faults(text) == [wanted]


def test_does_not_judge_a_column_whose_type_did_not_parse() -> None:
    assert list(predicate_faults("op", [NamedType("op", None)])) == []
