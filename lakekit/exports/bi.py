"""Notes for people who build reports in Power BI or QuickSight on the tables, as Markdown."""

import re
from collections.abc import Iterator, Sequence

from lakekit.config.environment import Environment
from lakekit.contract.contract import Contract
from lakekit.contract.sqltypes import SqlType, athena_type
from lakekit.exports.columns import columns_of
from lakekit.sql import queries
from lakekit.sql.tables import marks

_MARKS = re.compile(r"([\\`*_|<>\[\]~&])")
# What a report sees of a type. Neither tool has nested ones.
_POWER_BI = {
    "boolean": "True/False", "date": "Date", "timestamp": "Date/Time/Timezone",
    "timestamp_ntz": "Date/Time", "float": "Decimal number", "double": "Decimal number",
    "decimal": "Fixed or decimal number", "string": "Text", "binary": "Binary",
    "tinyint": "Whole number", "smallint": "Whole number", "int": "Whole number",
    "bigint": "Whole number",
}  # fmt: skip
_QUICKSIGHT = {
    "boolean": "Boolean", "date": "Date", "timestamp": "Date", "timestamp_ntz": "Date",
    "float": "Decimal", "double": "Decimal", "decimal": "Decimal", "string": "String",
    "binary": "not shown", "tinyint": "Integer", "smallint": "Integer", "int": "Integer",
    "bigint": "Integer",
}  # fmt: skip
_NESTED = "unnest it in a view"


def bi_notes(environment: Environment, contracts: Sequence[Contract]) -> str:
    """Return the notes of some tables, which are read together.

    Args:
        environment: Where the tables are.
        contracts: Theirs; relationships are looked for among them.
    """
    tables = [_table(environment, each, contracts) for each in contracts]
    return "\n".join([*_connection(environment), *(line for each in tables for line in each)])


def related(contract: Contract, others: Sequence[Contract]) -> Iterator[tuple[str, Contract]]:
    """Yield the columns that have name and type of the only key of another table, with that."""
    types = {column.name.lower(): column for column in contract.stored}
    for other in others:
        if other is contract or len(other.keys) != 1 or other.history.mode == "append":
            continue
        key = other.column(other.keys[0])
        column = types.get(key.name.lower())
        if column and column.sql_type == key.sql_type:
            yield column.name, other


def _connection(environment: Environment) -> Iterator[str]:
    yield f"# Tables of {_plain(environment.environment)} for Power BI and QuickSight"
    yield ""
    yield "| | |"
    yield "|---|---|"
    for name, value in (
        ("engine", "Amazon Athena"),
        ("region", environment.region),
        ("catalog", "AwsDataCatalog"),
        ("database", environment.database),
        ("workgroup", environment.name("queries")),
    ):
        yield f"| {name} | `{value}` |"
    yield ""
    yield (
        "Power BI: install the ODBC driver of Athena, make a DSN with these values, then "
        "*Get data*, *Amazon Athena*. Choose *Import*, or *DirectQuery* for large histories."
    )
    yield ""
    yield (
        "QuickSight: *New dataset*, *Athena*, with this workgroup, then the database. The role of "
        "QuickSight needs the rights to read the lake and its key."
    )
    yield ""
    yield "All times are UTC."
    yield ""


def _table(
    environment: Environment, contract: Contract, contracts: Sequence[Contract]
) -> Iterator[str]:
    yield f"## {_plain(contract.contract)}"
    yield ""
    if contract.description:
        yield _plain(contract.description)
        yield ""
    yield from _questions(environment, contract)
    yield from _relationships(contract, contracts)
    yield from _columns(contract)


def _questions(environment: Environment, contract: Contract) -> Iterator[str]:
    """Yield which view answers which question, with the statements that make them."""
    name = f"{environment.database}.{contract.contract}"
    if contract.history.mode == "append":
        yield f"Every record that came is a row of `{name}`. There are no versions and no view."
        yield ""
        return
    keys = ", ".join(contract.keys)
    yield "| question | read | rows |"
    yield "|---|---|---|"
    yield f"| what is it now? | `{contract.contract}_current` | one for each {_plain(keys)} |"
    if contract.history.mode == "scd2":
        yield f"| what was it, and when? | `{contract.contract}` | one for each version |"
        yield "| what was it at a time? | the second query | one for each key of that time |"
    yield ""
    marked = marks(contract)
    yield from _sql(queries.current_view(name, marked=marked, dialect="athena"))
    if contract.history.mode == "scd2":
        yield from _sql(queries.rows_as_of(name, "?", marked=marked, dialect="athena"))
        yield (
            "In Power BI write a parameter of type Date/Time in place of each `?`, in QuickSight a "
            "dataset parameter."
        )
        yield ""


def _relationships(contract: Contract, contracts: Sequence[Contract]) -> Iterator[str]:
    found = list(related(contract, contracts))
    if not found:
        return
    yield "Relationships, by names and types. Check that they mean the same:"
    yield ""
    for column, other in found:
        name, key = f"{other.contract}_current", other.keys[0]
        yield f"- `{column}`, many to one, `{name}`.`{key}`"
    yield ""
    yield (
        "Relate to the view of current rows only: a history has a key several times. For the value "
        "at the time of an event, join by time as the page on reading a history shows."
    )
    yield ""


def _columns(contract: Contract) -> Iterator[str]:
    yield "| column | Athena | Power BI | QuickSight | description |"
    yield "|---|---|---|---|---|"
    for each in columns_of(contract):
        cells = (
            f"`{each.name}`", f"`{athena_type(each.type)}`", _type(_POWER_BI, each.type),
            _type(_QUICKSIGHT, each.type), _plain(each.description),
        )  # fmt: skip
        yield f"| {' | '.join(cells)} |"
    yield ""


def _sql(text: str) -> Iterator[str]:
    yield "```sql"
    yield text
    yield "```"
    yield ""


def _type(names: dict[str, str], kind: SqlType) -> str:
    return names.get(kind.name, _NESTED)


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is, in one line."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
