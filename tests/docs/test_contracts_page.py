"""The page on contracts names every option, its default, and every count of a merge.

So it does with the pairs of options that are refused, what the journal holds, and the properties of
tables and snapshots.
"""

import re
from typing import Any

import pytest

from lakekit import table_properties
from lakekit.batch import MergeResult
from lakekit.contract.checks import extract_faults, option_faults
from lakekit.contract.history import History
from lakekit.sql.tables import JOURNAL_DDL, Op
from lakekit.table_properties import ContractProperty, Property
from tests.docs.pages import ROOT, read

PAGE = read(ROOT / "docs/contracts.md")
HISTORY = PAGE[PAGE.index("## history") : PAGE.index("### Late changes")]
COUNTS = PAGE[PAGE.index("### What a merge says it did") :]
JOURNAL = PAGE[PAGE.index("#### The change journal") : PAGE.index("#### Rejecting late records")]
PROPERTIES = PAGE[PAGE.index("### What Lakekit records") : PAGE.index("## maintenance")]
PAIRS = [
    {"mode": "scd1", "ignore_null_updates": True},
    {"mode": "append", "ignore_null_updates": True},
    {"mode": "append", "apply_as_deletes": "op = 'D'"},
    {"mode": "append", "delete_scope": ["tenant"]},
    {"ignore_null_updates": True, "delete_scope": ["tenant"]},
    {"extract": "full", "ignore_null_updates": True},
    {"extract": "incremental", "apply_as_deletes": "op = 'D'"},
    {"mode": "scd1", "delete_scope": ["tenant"]},
    {"mode": "scd1", "deletes": "mark"},
    {"mode": "append", "deletes": "mark"},
    {"late_changes": "quarantine", "delete_scope": ["tenant"]},
    {"late_changes": "ignore", "delete_scope": ["tenant"]},
    {"late_changes": "quarantine", "mode": "append"},
    {"late_changes": "ignore", "mode": "append"},
    {"track_history_columns": ["name"], "track_history_except": ["name"]},
]


def rows(text: str) -> dict[str, str]:
    """Return the second cell of each row of the tables, by the names in its first."""
    cells = [line.split("|")[1:3] for line in text.splitlines() if line.startswith("| `")]
    return {
        name: second.strip() for first, second in cells for name in re.findall("`(.+?)`", first)
    }


def test_every_option_of_a_history_is_described_with_its_default() -> None:
    described = rows(HISTORY[: HISTORY.index("### Modes and keys")])
    options = History.model_fields

    assert list(described) == list(options)
    for name, field in options.items():
        default = field.default
        if default is None or default == ():
            assert "`" not in described[name], name
        else:
            shown = f"[{', '.join(default)}]" if isinstance(default, tuple) else str(default)
            assert described[name].lower() == f"`{shown}`".lower(), name


def test_every_count_of_a_merge_is_described() -> None:
    counts = {name for name, field in MergeResult.model_fields.items() if field.default == 0}
    counts.discard("committed")

    assert set(rows(COUNTS)) >= counts
    assert {"snapshot_id", "committed"} <= set(re.findall("`(\\w+)`", COUNTS))


def message_of(pair: dict[str, Any]) -> str:
    """Return why two options are refused together."""
    defaults = {name: field.default for name, field in History.model_fields.items()}
    options = defaults | {"keys": ["id"]} | pair
    [fault] = [*option_faults(options), *extract_faults(pair.get("extract"), options)]
    return str(fault).partition(": ")[2]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_each_pair_that_is_refused_is_described_with_its_message(pair: dict[str, Any]) -> None:
    message = f"`{message_of(pair)}`"

    [row] = [line for line in PAGE.splitlines() if line.startswith("|") and message in line]
    assert all(option in row for option in pair)


def test_no_other_pair_has_a_row() -> None:
    table = HISTORY[HISTORY.index("| pair |") :].partition("\n\n")[0]

    assert len(table.splitlines()) - 2 == len(set(map(message_of, PAIRS)))


def test_every_kind_of_entry_and_every_column_of_the_journal_is_described() -> None:
    described = set(rows(JOURNAL))

    assert described >= set(JOURNAL_DDL)
    kinds = rows(JOURNAL[: JOURNAL.index("| contract |")])
    assert set(kinds) - {"_op"} == {str(op) for op in Op}


def test_the_properties_of_tables_and_snapshots_are_described_and_no_others() -> None:
    values = vars(table_properties).values()
    names = {each.name for each in values if isinstance(each, Property)}
    names |= {each for each in values if isinstance(each, str) and each.startswith("lakekit.")}
    names.discard(table_properties.__name__)

    assert len(names) == 12
    assert set(re.findall(r"`(lakekit\.[\w-]+)`", PROPERTIES)) == names
    [contract] = [line for line in PROPERTIES.splitlines() if "| `lakekit.contract`" in line]
    assert set(re.findall("`(\\w+)`", contract)) == set(ContractProperty.model_fields)
