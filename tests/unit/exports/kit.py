"""Contracts, sources and an environment for the exports."""

from lakekit.config.environment import Environment
from lakekit.config.source import load_source
from lakekit.contract.contract import Contract, load_contract

ENVIRONMENT = Environment(environment="dev", account="1" * 12, region="eu-west-1")
SHOP = load_source(
    "source: shop\ndescription: The shop\nbase_url: https://shop.example.org\n"
    "schedule: cron(0 6 * * ? *)\n"
)
QUIET = load_source("source: quiet\nbase_url: https://quiet.example.org\n")


def contract(
    name: str = "orders", history: str = "{keys: [id]}", columns: str = "", **more: str
) -> Contract:
    """Return a contract with the columns id and region, and some more."""
    extra = "".join(f"{field}: {value}\n" for field, value in more.items())
    return load_contract(
        f"contract: {name}\nsource: shop\nendpoint: {{path: /{name}}}\n{extra}schema:\n"
        "  - {name: id, type: int}\n  - {name: region, type: string, required: true}\n"
        f"{columns}history: {history}\n"
    )
