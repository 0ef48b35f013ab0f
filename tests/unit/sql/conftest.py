"""What the tests of the evolution of tables share."""

from typing import Any

from lakekit.contract.contract import Contract
from lakekit.sql import evolve as evolving
from lakekit.sql.line_hash import DIGEST


def evolve_table(
    contract: Contract, table: str, columns: dict[str, str], **known: Any
) -> list[str]:
    """Evolve a table with digests of lines; `test_evolve.py` has one without."""
    columns = columns | dict.fromkeys(DIGEST, "bigint")
    return evolving.evolve_table(contract, table, columns, **known)
