"""What an account says of who reads data: asked on moto, or on what AWS would answer."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from lakekit.aws.doctor.check import Account
from lakekit.aws.doctor.governance import CHECKS, DEPLOYER, EVERYBODY
from lakekit.config.environment import Environment

ACCOUNT, REGION = "123456789012", "eu-west-1"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/01234567-89ab-cdef-0123-456789abcdef"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/{DEPLOYER.format(account=ACCOUNT, region=REGION)}"


class Said:
    """A service that answers every call with the same, or with an error."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __getattr__(self, call: str) -> Any:
        def answer(**_: Any) -> Any:
            if isinstance(self.answer, str):
                raise ClientError({"Error": {"Code": self.answer, "Message": ""}}, call)
            return self.answer

        return answer


@pytest.fixture
def session() -> Iterator[Any]:
    with mock_aws():
        yield boto3.session.Session(region_name=REGION)


def ask(check: str, client: Any, **fields: Any) -> list[tuple[str, str]]:
    environment = Environment.model_validate(
        {"environment": "dev", "account": ACCOUNT, "region": REGION, **fields}
    )
    [found] = [each for each in CHECKS if each.name == check]
    return [(each.state, each.text) for each in found.ask(Account(environment, (), client))]


def settings(session: Any, *, decides: str | None, admins: list[str]) -> None:
    granted = [{"Principal": {"DataLakePrincipalIdentifier": decides}, "Permissions": ["ALL"]}]
    both = {f"Create{what}DefaultPermissions": granted if decides else []
            for what in ("Database", "Table")}  # fmt: skip
    named = [{"DataLakePrincipalIdentifier": each} for each in admins]
    session.client("lakeformation").put_data_lake_settings(
        DataLakeSettings={**both, "DataLakeAdmins": named}
    )


@pytest.mark.parametrize(
    ("decides", "admins", "states"),
    [
        (None, [ROLE], ["ok", "ok", "ok"]),
        (EVERYBODY, ["arn:aws:iam::123456789012:role/admin"], ["failed", "warning", "ok"]),
    ],
)
def test_where_lake_formation_decides_the_cdk_must_be_an_administrator(
    session: Any, decides: str | None, admins: list[str], states: list[str]
) -> None:
    settings(session, decides=decides, admins=admins)

    found = ask("lake formation", session.client, lake_formation={})

    assert [state for state, _ in found] == states


def test_without_the_switch_a_hardened_account_is_noticed_and_the_switch_named(
    session: Any,
) -> None:
    settings(session, decides=None, admins=[])

    found = ask("lake formation", session.client)

    assert {state for state, _ in found} == {"warning"}
    assert all("set lake_formation" in text for _, text in found)


@pytest.mark.parametrize(
    ("answer", "states"),
    [
        ({"PrincipalResourcePermissions": []}, ["ok", "ok"]),
        ({"PrincipalResourcePermissions": [{"Permissions": ["ALL"]}]}, ["failed", "failed"]),
        ("EntityNotFoundException", ["unknown", "unknown"]),
    ],
)
def test_a_database_that_iam_opens_is_noticed(answer: Any, states: list[str]) -> None:
    found = ask("everybody", lambda _: Said(answer), lake_formation={})

    assert [state for state, _ in found] == states
    assert ask("everybody", lambda _: Said(answer)) == []


@pytest.mark.parametrize(
    ("mode", "used", "wanted", "state"),
    [
        ("DISABLED", "", None, "ok"),
        ("DISABLED", "", KEY, "failed"),
        ("SSE-KMS", "alias/aws/glue", None, "ok"),
        ("SSE-KMS", KEY, KEY, "ok"),
        ("SSE-KMS", KEY, None, "failed"),
        ("SSE-KMS", KEY.replace("0123", "4567"), KEY, "failed"),
        ("SSE-KMS-WITH-SERVICE-ROLE", KEY, None, "ok"),
    ],
)
def test_the_key_of_the_catalog_must_be_named(
    mode: str, used: str, wanted: str | None, state: str
) -> None:
    rest = {"CatalogEncryptionMode": mode, "SseAwsKmsKeyId": used}
    answer = {"DataCatalogEncryptionSettings": {"EncryptionAtRest": rest}}

    [found] = ask("catalog key", lambda _: Said(answer), catalog_key=wanted)

    assert found[0] == state


@pytest.mark.parametrize(
    ("config", "there", "bucket", "state"),
    [
        ("rules", True, "other", "ok"),
        ("rules", False, "", "failed"),
        ("recorder", False, "", "ok"),
        ("recorder", True, "other", "failed"),
        ("recorder", True, f"lakekit-dev-trail-{ACCOUNT}-{REGION}", "ok"),
    ],
)
def test_an_account_has_one_recorder(
    session: Any, config: str, there: bool, bucket: str, state: str
) -> None:
    client = session.client("config")
    if there:
        role = f"arn:aws:iam::{ACCOUNT}:role/config"
        client.put_configuration_recorder(
            ConfigurationRecorder={"name": "default", "roleARN": role}
        )
        client.put_delivery_channel(DeliveryChannel={"name": "default", "s3BucketName": bucket})

    [found] = ask("recorder", session.client, audit={"config": config})

    assert found[0] == state
    assert ask("recorder", session.client, audit={}) == []


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ({"DataSet": {"Name": "Orders", "ImportMode": "SPICE"}}, "ok"),
        ({"DataSet": {"Name": "Orders", "ImportMode": "DIRECT_QUERY"}}, "failed"),
        ("ResourceNotFoundException", "failed"),
    ],
)
def test_a_dataset_must_be_there_and_hold_data(answer: Any, state: str) -> None:
    refreshes = [{"table": "orders", "dataset": "d"}, {"table": "items", "dataset": "d"}]

    [found] = ask("datasets", lambda _: Said(answer), refreshes=refreshes)

    assert found[0] == state
