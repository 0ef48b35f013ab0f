"""A configuration of 200 sources and 1,000 tables, with the longest names that are allowed."""

import json
from pathlib import Path

import pytest
from aws_cdk.assertions import Template

from lakekit.config.load import read_contracts
from tests.infra import limits
from tests.infra.conftest import Stacks, make_project, synthesise

SOURCES, TABLES = 200, 1_000
# The longest names of prefix and environment that leave a bucket its 63 characters, in a region
# with a long name.
BASE = 'account: "111111111111"\nregion: ap-southeast-2\nprefix: alongprefix\n'
ENVIRONMENT = "along-environme"
# As prod has them.
OWN = (
    "notify: [a@example.org, b@example.org]\nnetwork: vpc\nqueries: {views: true}\n"
    "lake_formation: {analysts: ['arn:aws:iam::111111111111:role/a'], "
    "auditors: ['arn:aws:iam::111111111111:role/b']}\naudit: {config: recorder}\n"
    "catalog_key: arn:aws:kms:ap-southeast-2:111111111111:key/"
    "01234567-89ab-cdef-0123-456789abcdef\n"
    f"refreshes: [{{table: {'table_0000_'.ljust(63, 'x')}, dataset: d}}]\n"
)
REST = """
auth: {{type: bearer, secret: "alongprefix/{{environment}}/{name}"}}
schedule: {{expression: "cron({minute} 6 * * ? *)", time_zone: Europe/London}}
"""
CONTRACT = """
contract: {name}
source: {source}
endpoint: {{path: /{number}}}
schema: [{{name: id, type: bigint}}, {{name: at, type: timestamp}}]
history: {{keys: [id], sequence_by: at}}
"""


def long_name(kind: str, number: int) -> str:
    """Return a name of 63 characters, the longest that a file may have."""
    return f"{kind}_{number:04d}_".ljust(63, "x")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = [long_name("source", number) for number in range(SOURCES)]
    sources = {n: REST.format(name=n, minute=number % 60) for number, n in enumerate(names)}
    root = make_project(
        tmp_path_factory.mktemp("project"),
        environments={"base": BASE, ENVIRONMENT: OWN},
        sources=sources,
    )
    for number in range(TABLES):
        name = long_name("table", number)
        text = CONTRACT.format(name=name, source=names[number % SOURCES], number=number)
        (root / f"config/contracts/{name}.yaml").write_text(text)
    return root


@pytest.fixture(scope="module")
def large(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Stacks:
    return synthesise(tmp_path_factory.mktemp("cdk.out"), ENVIRONMENT, project=project)[ENVIRONMENT]


def test_two_hundred_sources_stay_within_every_limit(large: Stacks) -> None:
    large["orchestration"].resource_count_is("AWS::Scheduler::Schedule", SOURCES)
    buckets = large["storage"].find_resources("AWS::S3::Bucket").values()

    assert max(len(bucket["Properties"]["BucketName"]) for bucket in buckets) == 63
    assert limits.excesses(large.values()) == []


def test_no_policy_grows_with_the_number_of_sources(
    large: Stacks, environments: dict[str, Stacks]
) -> None:
    def policies(stacks: Stacks) -> int:
        return sum(
            len(statement)
            for template in stacks.values()
            for kind in ("AWS::IAM::Policy", "AWS::SQS::QueuePolicy")
            for policy in template.find_resources(kind).values()
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        )

    # Both have addresses for notices, a network, and readers.
    assert policies(large) == policies(environments["prod"])


def test_no_monitoring_grows_with_the_number_of_tables(
    large: Stacks, environments: dict[str, Stacks]
) -> None:
    def resources(stacks: Stacks) -> int:
        template = stacks["monitoring"].to_json()["Resources"].values()
        return sum(each["Type"].startswith("AWS::CloudWatch") for each in template)

    assert resources(large) == resources(environments["prod"])


def test_the_tables_of_one_source_are_found_among_a_thousand_without_reading_all(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To parse all of them takes seconds, and a function waits for it at each start of a run."""
    from lakekit.config import load  # noqa: PLC0415

    parsed = []
    parse = load.parse_yaml
    monkeypatch.setattr(
        load, "parse_yaml", lambda text, **given: parsed.append(given) or parse(text, **given)
    )

    found = read_contracts(project / "config", long_name("source", 7))

    assert len(found) == TABLES / SOURCES
    assert len(parsed) == len(found)


def of(kind: str, count: int = 1, **properties: object) -> dict[str, object]:
    return {"Resources": {f"R{n}": {"Type": kind, "Properties": properties} for n in range(count)}}


def statements(count: int, size: int = 10) -> dict[str, object]:
    return {"Statement": [{"Sid": "s" * size} for _ in range(count)]}


@pytest.mark.parametrize(
    ("template", "excess"),
    [
        (of("AWS::SNS::Topic", 501), "Resources: 501 of 500"),
        (of("AWS::SNS::Topic", 400, TopicName="t" * 256, D="d" * 3000), "template: "),
        (of("AWS::SQS::QueuePolicy", PolicyDocument=statements(21)), "statements of R0: 21 of 20"),
        (of("AWS::SQS::QueuePolicy", PolicyDocument=statements(2, 5000)), "of 8,192"),
        (
            of("AWS::IAM::Policy", 3, Roles=[{"Ref": "r"}], PolicyDocument=statements(1, 4000)),
            "of 10,240",
        ),
        (of("AWS::IAM::ManagedPolicy", PolicyDocument=statements(1, 7000)), "of 6,144"),
        (
            of("AWS::IAM::ManagedPolicy", 11, Roles=[{"Ref": "r"}], PolicyDocument={}),
            "managed policies of r: 11 of 10",
        ),
        (of("AWS::IAM::Role", AssumeRolePolicyDocument=statements(1, 2100)), "of 2,048"),
        (of("AWS::Lambda::Function", FunctionName="f" * 65), "65 of 64"),
        (of("AWS::Scheduler::Schedule", Name="s" * 65), "65 of 64"),
        (of("AWS::S3::Bucket", BucketName="b" * 64), "64 of 63"),
        (
            of("AWS::Lambda::Function", Environment={"Variables": {"A": "a" * 4100}}),
            "variables of R0: 4,101 of 4,096",
        ),
        (of("AWS::Events::Rule", 301, Targets=[]), "rules of the event bus: 301 of 300"),
        (of("AWS::Events::Rule", Targets=[{}] * 6), "targets of R0: 6 of 5"),
        (
            of(
                "AWS::CloudWatch::Dashboard",
                DashboardBody=json.dumps({"widgets": [{"properties": {}}] * 501}),
            ),
            "widgets of R0: 501 of 500",
        ),
    ],
)
def test_an_excess_would_be_found(template: dict[str, object], excess: str) -> None:
    found = limits.excesses([Template.from_json(template)])

    assert any(excess in line for line in found), found
