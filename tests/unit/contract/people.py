"""A small contract, and the faults that are reported once it is changed."""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.errors import InvalidContractError

GOOD = """
contract: people
source: people_api
endpoint: {path: /people}
schema: [{name: id, type: int}, {name: order, type: string}]
history: {keys: [id]}
"""


def faults(text: str) -> list[str]:
    with pytest.raises(InvalidContractError) as fault:
        load_contract(text, name="people.yaml")
    return [line.removeprefix("people.yaml: ") for line in str(fault.value).splitlines()]
