"""Contracts to which columns come later."""

from lakekit.contract.contract import load_contract
from tests.spark.late import TEXT


def grown(text, *names):
    """The contract with more columns, tracked."""
    columns = "".join(f"  - {{name: {name}, type: string}}\n" for name in names)
    return text.replace("history:", f"{columns}history:")


GROWN = grown(TEXT, "zip").replace("[name]", "[name, zip]")
ZIP = load_contract(GROWN)


def contracts(option):
    """The contract with an option: without the column, and with it."""
    return [load_contract(t.replace("keys: [id]", f"keys: [id], {option}")) for t in (TEXT, GROWN)]
