"""The files section of a contract: what goes together, and what changes need."""

import pytest

from lakekit.contract.contract import Contract, load_contract
from lakekit.errors import InvalidContractError

BASE = """\
contract: e
source: s
endpoint: {{path: /e, extract: {extract}}}
files: {files}
schema:
  - {{name: id, type: int}}
  - {{name: at, type: timestamp, from: __time}}
  - {{name: op, type: string, from: {op}}}
history: {{keys: [id], {history}}}
"""
ORDERED = "sequence_by: at"


def load(
    files: str, *, extract: str = "changes", op: str = "Op", history: str | None = None
) -> Contract:
    default = f"{ORDERED}, apply_as_deletes: op = 'x'"
    text = BASE.format(files=files, extract=extract, op=op, history=history or default)
    return load_contract(text)


@pytest.mark.parametrize(
    ("files", "op"),
    [
        ("{}", "x"),
        ('{format: csv, delimiter: "|", quote: "~", columns: [id, x], charset: cp1252}', "x"),
        ("{changes: dms, null_value: 'NULL'}", "Op"),
        ("{changes: dms, format: parquet}", "Op"),
        ("{changes: debezium}", "__op"),
        ("{changes: debezium, format: ndjson}", "$.__op"),
    ],
)
def test_a_contract_says_how_files_are_written(files: str, op: str) -> None:
    assert load(files, op=op).files is not None


@pytest.mark.parametrize(
    ("files", "given", "message"),
    [
        ("{format: xml}", {}, "files.format: Input should be 'csv', 'json', 'ndjson' or"),
        ("{delimeter: x}", {}, "files.delimeter: unknown field; did you mean 'delimiter'?"),
        ('{delimiter: ";;"}', {}, "files.delimiter: "),
        ("{delimiter: '\"'}", {}, "files.delimiter: must be another sign than quote"),
        ("{columns: []}", {}, "files.columns: "),
        ("{columns: [id, id]}", {}, "files.columns: a name stands twice"),
        ("{columns: [ID]}", {}, "files.columns: lacks id, which a key is read from"),
        ("{charset: klingon}", {}, "files.charset: the charset 'klingon' is unknown"),
        (
            "{format: json, columns: [id]}",
            {},
            "files.columns: files of json have none; it is for csv",
        ),
        ("{format: parquet, charset: ascii}", {}, "files.charset: files of parquet have none"),
        ("{format: csv, changes: debezium}", {}, "files.format: debezium writes json or ndjson"),
        ("{format: json, changes: dms}", {}, "files.format: dms writes csv or parquet"),
        ("{changes: dms}", {"extract": "full"}, "endpoint.extract: files of dms hold changes"),
        (
            "{changes: debezium}",
            {"history": "apply_as_deletes: op = 'd'", "op": "__op"},
            "history.sequence_by: changes of debezium need it",
        ),
        (
            "{changes: dms}",
            {"history": ORDERED},
            "history.apply_as_deletes: changes of dms need it, or deletions would be updates: "
            "op = 'D'",
        ),
        (
            "{changes: debezium}",
            {"op": "op"},
            "files.changes: the schema needs a column of the operation: "
            "{name: op, type: string, from: __op}",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(
    files: str, given: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidContractError) as refused:
        load(files, **given)

    assert message in str(refused.value)


def test_other_faults_hide_none_of_a_files_section() -> None:
    with pytest.raises(InvalidContractError) as refused:
        load("{format: csv, changes: debezium, charset: x, quote: ','}", history="keyz: [id]")

    found = str(refused.value)
    for each in ("files.format: debezium", "files.charset: the", "files.delimiter: must", "keyz"):
        assert each in found


def test_a_table_that_only_grows_needs_no_operation() -> None:
    history = "mode: append, sequence_by: at"

    assert load("{changes: dms}", op="x", history=history).files.changes == "dms"
