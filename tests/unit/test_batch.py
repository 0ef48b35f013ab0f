"""What one run hands to a merge."""

import pytest

from lakekit.batch import refuse_extract
from lakekit.contract.contract import load_contract
from lakekit.errors import InvalidStepInputError

CONTRACT = """
contract: people
source: people_api
endpoint: {path: /people, extract: changes}
schema: [{name: id, type: int}]
history: {keys: [id], ignore_null_updates: true}
"""


def test_a_full_extract_is_refused_where_records_are_partial() -> None:
    contract = load_contract(CONTRACT)

    with pytest.raises(InvalidStepInputError, match="people: a null in a full extract is a value"):
        refuse_extract(contract, "full")
    refuse_extract(contract, "incremental")
    refuse_extract(load_contract(CONTRACT.replace("true", "false")), "full")
