"""What a person can know of an account: here of one that moto has."""

import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from lakekit.aws.doctor.after import CHECKS as AFTER
from lakekit.aws.doctor.before import CHECKS as BEFORE
from lakekit.aws.doctor.check import Account, Answer
from lakekit.aws.doctor.examine import examine, unasked
from lakekit.aws.doctor.governance import CHECKS as GOVERNANCE
from lakekit.config.addresses import Lineage
from lakekit.config.environment import Environment
from lakekit.config.infrastructure.governance import Audit
from lakekit.config.source import Source
from tests.docs.pages import ROOT

ACCOUNT, REGION = "123456789012", "eu-west-1"
NAME = "lakekit/dev/shop"
CHECKS = {each.name: each for each in (*BEFORE, *GOVERNANCE, *AFTER)}
ENVIRONMENT = Environment(
    environment="dev", account=ACCOUNT, region=REGION, notify=("a@example.org", "b@example.org")
)


@pytest.fixture
def session() -> Iterator[Any]:
    with mock_aws():
        yield boto3.session.Session(region_name=REGION)


def account(session: Any, **fields: Any) -> Account:
    given = {"environment": ENVIRONMENT, "sources": (), **fields}
    return Account(client=session.client, **given)


def ask(check: str, of: Account) -> list[Answer]:
    return list(CHECKS[check].ask(of))


def source(url: str = "https://shop.example", **auth: Any) -> Source:
    return Source.model_validate({"source": "shop", "base_url": url, **auth})


def signed(field: str | None = None) -> Source:
    secret = {"name": "lakekit/{environment}/shop", "field": field}
    return source(auth={"type": "bearer", "secret": secret})


def test_credentials_must_be_of_the_account(session: Any) -> None:
    other = ENVIRONMENT.model_copy(update={"account": "9" * 12})

    assert ask("account", account(session))[0].state == "ok"
    assert ask("account", account(session, environment=other))[0].state == "failed"


@pytest.mark.parametrize(
    ("date", "state"),
    [(0, "ok"), (60, "warning"), (600, "failed"), (-600, "failed")],
)
def test_a_clock_that_is_wrong_is_noticed(
    session: Any, monkeypatch: pytest.MonkeyPatch, date: int, state: str
) -> None:
    there = format_datetime(datetime.now(UTC) + timedelta(seconds=date))
    client = session.client("sts")
    answer = {"ResponseMetadata": {"HTTPHeaders": {"date": there}}}
    monkeypatch.setattr(client, "get_caller_identity", lambda: answer)

    [found] = CHECKS["clock"].ask(Account(ENVIRONMENT, (), lambda _: client))

    assert found.state == state


@pytest.mark.parametrize(
    ("version", "state"), [(None, "failed"), ("4", "failed"), ("6", "ok"), ("28", "ok")]
)
def test_the_cdk_must_have_been_bootstrapped(session: Any, version: str | None, state: str) -> None:
    if version:
        name = "/cdk-bootstrap/hnb659fds/version"
        session.client("ssm").put_parameter(Name=name, Value=version, Type="String")

    [found] = ask("bootstrap", account(session))

    assert found.state == state
    assert ("cdk bootstrap aws://123456789012/eu-west-1" in found.text) == (state == "failed")


def test_functions_that_reserve_need_a_larger_quota() -> None:
    class Lambda:
        def get_account_settings(self) -> dict[str, Any]:
            return {"AccountLimit": {"ConcurrentExecutions": 400}}

    reserves = ENVIRONMENT.model_copy(
        update={"functions": ENVIRONMENT.functions.model_copy(update={"reserve_concurrency": True})}
    )

    assert [CHECKS["concurrency"].ask(Account(each, (), lambda _: Lambda())).__next__().state
            for each in (ENVIRONMENT, reserves)] == ["ok", "failed"]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "field", "state"),
    [
        (None, None, "failed"),
        ("abc", None, "ok"),
        ('{"token": "abc"}', "token", "ok"),
        ('{"token": 5}', "token", "ok"),
        ('{"token": true}', "token", "failed"),
        ('{"token": ""}', "token", "failed"),
        ("abc", "token", "failed"),
    ],
)
def test_a_secret_must_be_there_with_its_field(
    session: Any, text: str | None, field: str | None, state: str
) -> None:
    if text:
        session.client("secretsmanager").create_secret(Name=NAME, SecretString=text)

    [found] = ask("secrets", account(session, sources=(signed(field),)))

    assert found.state == state
    assert found.subject == (f"{NAME}#token" if field else NAME)
    assert "abc" not in found.text


def test_the_token_of_lineage_must_be_there(session: Any) -> None:
    lineage = Lineage(url="https://lineage.example", secret="lakekit/{environment}/lineage")  # noqa: S106
    of = account(session, environment=ENVIRONMENT.model_copy(update={"lineage": lineage}))

    [missing] = ask("secrets", of)
    session.client("secretsmanager").create_secret(Name="lakekit/dev/lineage", SecretString="abc")
    [found] = ask("secrets", of)

    assert (missing.state, missing.subject) == ("failed", "lakekit/dev/lineage")
    assert found.state == "ok"


def test_an_origin_must_take_a_connection(session: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        sources = (source(f"http://127.0.0.1:{port}"),)
        [there] = ask("origins", account(session, sources=sources))
    [closed] = ask("origins", account(session, sources=sources))

    assert (there.state, closed.state) == ("ok", "failed")
    assert closed.text == "Connection refused"


def test_a_source_of_files_alone_is_not_connected_to(session: Any) -> None:
    files = Source.model_validate({"source": "files"})

    assert ask("origins", account(session, sources=(files,))) == []


def networked(vpc: str, **subnets: str) -> Environment:
    zones = {zone.replace("_", "-"): subnet for zone, subnet in subnets.items()}
    network = {"vpc_id": vpc, "subnets": zones}
    return Environment.model_validate({**ENVIRONMENT.model_dump(), "network": network})


def test_an_existing_network_must_be_of_the_account_and_the_region(session: Any) -> None:
    ec2 = session.client("ec2")
    vpc, other = (
        ec2.create_vpc(CidrBlock=block)["Vpc"]["VpcId"] for block in ("10.1.0.0/16", "10.2.0.0/16")
    )

    def subnet(of: str, block: str, zone: str) -> str:
        made = ec2.create_subnet(VpcId=of, CidrBlock=block, AvailabilityZone=zone)["Subnet"]
        return str(made["SubnetId"])

    good = subnet(vpc, "10.1.0.0/24", "eu-west-1a")
    small = subnet(vpc, "10.1.1.0/28", "eu-west-1b")
    foreign = subnet(other, "10.2.0.0/24", "eu-west-1b")

    def found(environment: Environment) -> list[tuple[str, str]]:
        answers = ask("network", account(session, environment=environment))
        return [(each.state, each.text) for each in answers]

    assert found(networked(vpc, eu_west_1a=good, eu_west_1b=small)) == [
        ("ok", "10.1.0.0/16"),
        ("ok", "in eu-west-1a, with 251 free addresses"),
        ("warning", "11 free addresses, and each worker of a job takes one"),
    ]
    absent = "subnet-0123456789abcdef0"
    assert found(networked(vpc, eu_west_1c=good, eu_west_1b=foreign, eu_west_1a=absent))[1:] == [
        ("failed", "is in eu-west-1a; name it under that zone, not eu-west-1c"),
        ("failed", f"is in {other}; name subnets of {vpc}"),
        ("failed", "there is no such subnet in the account and region"),
    ]
    elsewhere = "vpc-0123456789abcdef0"
    assert found(networked(elsewhere, eu_west_1a=good, eu_west_1b=small)) == [
        ("failed", f"is no VPC of account {ACCOUNT} and {REGION}; look in which it is")
    ]
    assert found(ENVIRONMENT) == []


def test_copies_need_buckets_with_versions_where_their_key_is(session: Any) -> None:
    key = f"arn:aws:kms:eu-west-2:{ACCOUNT}:key/01234567-89ab-cdef-0123-456789abcdef"

    def found(landing: str, lake: str) -> list[tuple[str, str]]:
        arns = {"landing": f"arn:aws:s3:::{landing}", "lake": f"arn:aws:s3:::{lake}", "key": key}
        storage = {"replication": arns}
        where = Environment.model_validate({**ENVIRONMENT.model_dump(), "storage": storage})
        return [each[0::2] for each in ask("copies", account(session, environment=where))]

    for name, region in (("good", "eu-west-2"), ("plain", "eu-west-2"), ("near", "eu-west-1")):
        session.client("s3", region_name=region).create_bucket(
            Bucket=name, CreateBucketConfiguration={"LocationConstraint": region}
        )
    session.client("s3", region_name="eu-west-2").put_bucket_versioning(
        Bucket="good", VersioningConfiguration={"Status": "Enabled"}
    )

    assert found("good", "plain") == [
        ("ok", "in eu-west-2, with versions"),
        ("failed", "keeps no versions, and S3 copies nothing to it"),
    ]
    assert found("near", "absent") == [
        ("failed", "is in eu-west-1, and the key of copies eu-west-2"),
        ("failed", "there is no such bucket; make it first"),
    ]
    assert ask("copies", account(session)) == []


@pytest.mark.parametrize(
    ("decides", "state"), [("IAM_ALLOWED_PRINCIPALS", "ok"), (None, "warning")]
)
def test_who_decides_about_new_tables_is_said(
    session: Any, decides: str | None, state: str
) -> None:
    granted = [{"Principal": {"DataLakePrincipalIdentifier": decides}, "Permissions": ["ALL"]}]
    session.client("lakeformation").put_data_lake_settings(
        DataLakeSettings={
            f"Create{what}DefaultPermissions": granted if decides else []
            for what in ("Database", "Table")
        }
    )

    assert {each.state for each in ask("lake formation", account(session))} == {state}


def test_what_is_not_deployed_is_not_known(session: Any) -> None:
    for check in ("stacks", "keys", "notices", "metrics", "job logs", "conditions"):
        assert {each.state for each in ask(check, account(session))} == {"unknown"}, check


def test_a_stack_that_went_back_is_noticed(session: Any) -> None:
    template = json.dumps({"Resources": {"t": {"Type": "AWS::SNS::Topic"}}})
    client = session.client("cloudformation")
    for part in ("storage", "compute"):
        client.create_stack(StackName=f"lakekit-dev-{part}", TemplateBody=template)

    states = [each.state for each in ask("stacks", account(session))]

    assert states == ["ok", "ok", "unknown", "unknown"]


def test_a_key_that_is_switched_off_is_noticed(session: Any) -> None:
    client = session.client("kms")
    for part in ("data", "logs"):
        key = client.create_key()["KeyMetadata"]["KeyId"]
        client.create_alias(AliasName=f"alias/lakekit-dev-{part}", TargetKeyId=key)
    client.disable_key(KeyId=key)

    assert [each.state for each in ask("keys", account(session))] == ["warning", "failed"]


def test_the_key_of_an_audit_is_looked_at_too(session: Any) -> None:
    audited = ENVIRONMENT.model_copy(update={"audit": Audit()})

    found = [each.subject for each in ask("keys", account(session, environment=audited))]

    assert found == [f"alias/lakekit-dev-{part}" for part in ("data", "logs", "trail")]


def test_an_address_that_gets_no_notices_is_noticed(session: Any) -> None:
    topic = session.client("sns").create_topic(Name="lakekit-dev-failures")["TopicArn"]
    session.client("sns").subscribe(TopicArn=topic, Protocol="email", Endpoint="a@example.org")

    found = {each.subject: each.state for each in ask("notices", account(session))}

    assert found == {"a@example.org": "ok", "b@example.org": "failed"}


def test_a_probe_finds_that_s3_refuses_to_replace_an_object_and_leaves_nothing(
    session: Any,
) -> None:
    bucket = ENVIRONMENT.bucket("landing")
    where = {"LocationConstraint": REGION}
    session.client("s3").create_bucket(Bucket=bucket, CreateBucketConfiguration=where)

    found = ask("conditions", account(session, probe=True))

    assert [each.state for each in found] == ["ok"] * 4
    assert "Contents" not in session.client("s3").list_objects_v2(Bucket=bucket)


def test_what_aws_refuses_stops_no_other_check() -> None:
    def client(service: str) -> Any:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, service)

    found = list(examine(Account(ENVIRONMENT, (), client)))

    assert {each.check for each in found} >= {"account", "stacks", "metrics"}
    assert all("AccessDenied" in each.text for each in found if each.subject == "AWS")


def test_each_check_says_what_it_would_look_at() -> None:
    assert [each.check for each in unasked()] == [*CHECKS]


def test_the_lines_that_a_check_confirms_are_on_the_page() -> None:
    page = (ROOT / "docs/unverified-on-aws.md").read_text()
    answered = page.partition("answers some of these")[2].partition("\n")[0]

    for check in CHECKS.values():
        if check.confirms:
            assert f"| {check.confirms} |" in page
            assert check.confirms in answered
