"""A contract whose condition is checked too: with all other faults, and only where it is asked."""

import pytest

from lakekit.contract.checked import CheckedContract
from lakekit.contract.contract import Contract
from lakekit.errors import InvalidContractError

TEXT = """
contract: people
source: people_api
endpoint: {path: /people, extract: changes}
schema: [{name: id, type: int}, {name: op, type: string}]
history: {keys: [id], apply_as_deletes: op}
"""
FAULT = "history.apply_as_deletes: op is string, not boolean; write a condition such as op = 'D'"


def faults(text: str) -> list[str]:
    with pytest.raises(InvalidContractError) as fault:
        CheckedContract.from_yaml(text, name="people.yaml")
    return [line.removeprefix("people.yaml: ") for line in str(fault.value).splitlines()]


def test_a_condition_is_refused_by_its_place() -> None:
    assert faults(TEXT) == [FAULT]


def test_it_is_refused_with_the_other_faults_of_the_file() -> None:
    assert faults(TEXT.replace("keys: [id]", "keys: [nope], keyz: []")) == [
        "history.keys: 'nope' is not a column of the schema",
        "history.keyz: unknown field; did you mean 'keys'?",
        FAULT,
    ]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("name: op,", "name: 3,", "schema.1.name"),
        ("type: string", "type: strng", "schema.1.type"),
        ("apply_as_deletes: op", "apply_as_deletes: [op]", "history.apply_as_deletes: must"),
    ],
)
def test_it_is_not_judged_by_what_did_not_parse(old: str, new: str, fault: str) -> None:
    [only] = faults(TEXT.replace(old, new))

    assert only.startswith(fault)


def test_a_run_takes_it_as_checked() -> None:
    assert Contract.from_yaml(TEXT, name="people.yaml").history.apply_as_deletes == "op"
