"""Lake Formation, audit and tools of analysts: what is refused, and in which words."""

from pathlib import Path
from typing import Any

import pytest

from lakekit.config.deployment import missing_contract_faults, missing_source_faults
from lakekit.config.environment import Environment, load_environment
from lakekit.errors import InvalidEnvironmentError

ACCOUNT, OTHER = "1" * 12, "2" * 12
ROLE = f"arn:aws:iam::{ACCOUNT}:role/aws-reserved/sso.amazonaws.com/analysts_0123"
KEY = "arn:aws:kms:{}:111111111111:key/01234567-89ab-cdef-0123-456789abcdef"


def environment(**fields: Any) -> Environment:
    given = {"environment": "dev", "account": ACCOUNT, "region": "eu-west-1", **fields}
    return Environment.model_validate(given)


def load(folder: Path, own: str) -> Environment:
    (folder / "base.yaml").write_text(f"region: eu-west-1\naccount: '{ACCOUNT}'\n")
    (folder / "dev.yaml").write_text(own)
    return load_environment("dev", folder=folder)


@pytest.mark.parametrize(
    ("own", "fault"),
    [
        (
            "lake_formation: {analysts: [data]}",
            "dev.yaml:1:\\d+: lake_formation.analysts.0: 'data' is not the ARN",
        ),
        ("lake_formation: {analyst: []}", "lake_formation.analyst: .* did you mean 'analysts'"),
        (
            f"lake_formation: {{auditors: ['{ROLE}', '{ROLE}']}}",
            "lake_formation.auditors: a principal is named twice",
        ),
        (
            f"lake_formation: {{auditors: ['{ROLE}'], analysts: ['{ROLE}']}}",
            "lake_formation.auditors.0: is an analyst too; an auditor sees all that analysts see",
        ),
        (
            f"lake_formation: {{analysts: ['{ROLE.replace(ACCOUNT, OTHER)}']}}",
            f"lake_formation.analysts.0: is of account {OTHER}, and the environment of {ACCOUNT}; "
            "share the database",
        ),
        (
            "catalog_key: alias/glue",
            "dev.yaml:1:1: catalog_key: 'alias/glue' is not the ARN",
        ),
        (
            f"catalog_key: {KEY.format('us-east-1')}",
            "catalog_key: is a key of us-east-1; the catalog of eu-west-1 has one of eu-west-1",
        ),
        ("audit: {days: 0}", "audit.days: Input should be greater than or equal to 1"),
        ("audit: {config: all}", "audit.config: Input should be 'rules' or 'recorder'"),
        ("refreshes: [{table: orders}]", "refreshes.0.dataset: Field required"),
        (
            "refreshes: [{table: orders, dataset: a b}]",
            "refreshes.0.dataset: 'a b' is not the id",
        ),
        (
            "refreshes: [{table: orders, dataset: a}, {table: orders, dataset: a}]",
            "dev.yaml:1:42: refreshes.1: is named twice",
        ),
        (
            "preparations: [{source: s, contract: c}, {source: s, contract: c}]",
            "preparations.1: is named twice",
        ),
    ],
)
def test_what_cannot_be_governed_is_a_fault_with_its_place(
    tmp_path: Path, own: str, fault: str
) -> None:
    with pytest.raises(InvalidEnvironmentError, match=fault) as caught:
        load(tmp_path, own)
    assert len(str(caught.value).splitlines()) == 1


def test_nothing_of_it_is_on_by_itself() -> None:
    plain = environment()

    assert (plain.lake_formation, plain.audit, plain.catalog_key) == (None, None, None)
    assert (plain.refreshes, plain.preparations, plain.shares_tables) == ((), (), False)
    assert environment(queries={"views": True}).shares_tables
    assert environment(lake_formation={}).access_tag == "lakekit-dev-access"


def faults(*contracts: str, **fields: Any) -> list[str]:
    return list(map(str, missing_contract_faults(environment(**fields), contracts)))


def test_tables_that_are_named_have_contracts() -> None:
    given: dict[str, Any] = {
        "refreshes": [{"table": "order", "dataset": "d"}],
        "preparations": [{"source": "shop", "contract": "crm"}],
        "streams": [{"source": "shop", "contract": "orders"}],
    }

    assert faults("orders", **given) == [
        "refreshes.0.table: there is no contract 'order'; did you mean 'orders'?",
        "preparations.0.contract: there is no contract 'crm'",
    ]
    assert list(map(str, missing_source_faults(environment(**given), []))) == [
        f"{place}.0.source: dev has no source 'shop'; there is none"
        for place in ("streams", "preparations")
    ]


def test_a_view_takes_no_name_of_a_table() -> None:
    assert faults("orders", "orders_current") == []
    assert faults("orders", "orders_current", queries={"views": True}) == [
        "queries.views: the view of 'orders' would be called 'orders_current', as another contract "
        "is; rename that contract, or leave views out"
    ]
