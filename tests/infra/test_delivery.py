"""Who may deploy, what the pipeline does, and what streams bring into the inbox."""

import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import Environment as Place
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Match, Template

from cdk.app import build
from cdk.constructs.inbox_stream import InboxStream
from cdk.stacks.delivery import DeliveryStack
from cdk.stacks.pipeline import commands_of
from lakekit.config.environment import Environment, read_environments
from lakekit.project.make import make_project as make_project_of_ours
from lakekit.project.targets import role_arn, targets
from lakekit.sandbox.creators import CREATORS, NOT_BUILT
from tests.infra.conftest import CONTEXT, PROJECT, Stacks, make_project
from tests.infra.test_access import as_list

Json = dict[str, Any]
CONNECTION = "arn:aws:codeconnections:eu-west-1:{}:connection/01234567-89ab-cdef-0123-456789abcdef"
DEV, PROD = "1" * 12, "2" * 12
BASE = (
    "region: eu-west-1\nprefix: acme\nsmoke: shop\ndelivery: {repository: acme/lake}\n"
    "notify: [a@example.org]\n"
)
STREAMS = "streams: [{source: shop, contract: orders, buffer_mb: 5, buffer_seconds: 60}]\n"
PIPELINE = (
    f"delivery: {{repository: acme/lake, pipeline: {{connection: '{CONNECTION.format(DEV)}', "
    "environments: [dev, prod]}}\n"
)
CONTRACT = (
    "contract: orders\nsource: shop\nendpoint: {path: /o}\n"
    "schema: [{name: id, type: bigint}]\nhistory: {keys: [id]}\n"
)
SUBJECT = "token.actions.githubusercontent.com:sub"


def project(folder: Path, dev: str = "") -> Path:
    environments = {
        "base": BASE,
        "dev": f"account: '{DEV}'\n{STREAMS}{dev}",
        "prod": f"account: '{PROD}'\ndelivery: {{existing_provider: true}}\n",
    }
    made = make_project(folder, environments=environments, sources={"shop": ""})
    (made / "config/contracts/orders.yaml").write_text(CONTRACT)
    return made


@pytest.fixture(scope="module")
def environments_of_github(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Environment]:
    root = project(tmp_path_factory.mktemp("project"))
    return read_environments(root / "config/environments")


@pytest.fixture(scope="module")
def github(environments_of_github: dict[str, Environment]) -> dict[str, Template]:
    """Return the delivery stack of each environment, alone."""
    app = App(analytics_reporting=False)
    found = {}
    for name, each in environments_of_github.items():
        assert each.delivery
        stack = DeliveryStack(
            app,
            name,
            environment=each,
            delivery=each.delivery,
            pipeline=None,
            env=Place(account=each.account, region=each.region),
        )
        found[name] = stack
    return {name: Template.from_stack(stack) for name, stack in found.items()}


@pytest.fixture(scope="module")
def streams(environments_of_github: dict[str, Environment]) -> Template:
    """Return a stack with the stream of dev."""
    stack = Stack(App(analytics_reporting=False), "s", env=Place(account=DEV, region="eu-west-1"))
    environment = environments_of_github["dev"]
    key, log_key = kms.Key(stack, "key"), kms.Key(stack, "log_key")
    landing = s3.Bucket(stack, "landing", encryption_key=key)
    [stream] = environment.streams
    InboxStream(stack, environment=environment, stream=stream, landing=landing, keys=(key, log_key))
    return Template.from_stack(stack)


@pytest.fixture(scope="module")
def piped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Template, Json]:
    """Return the pipeline, and the trust of production's role for it."""
    root = project(tmp_path_factory.mktemp("project"), PIPELINE)
    (root / "cdk.json").write_text("{}")
    out = tmp_path_factory.mktemp("cdk.out")
    app = build([], project=root, out=str(out), context=CONTEXT, pipeline=True)
    stack: Any = app.node.find_child("pipeline")
    template = Template.from_stack(stack)
    inner = Template.from_stack(stack.node.find_child("prod").delivery)
    return template, roles(inner)


def roles(template: Template) -> Json:
    found = [each["Properties"] for each in template.find_resources("AWS::IAM::Role").values()]
    return {
        each.get("RoleName"): each["AssumeRolePolicyDocument"]["Statement"][0] for each in found
    }


def rights(template: Template, role: str) -> list[Json]:
    return [
        statement
        for policy in template.find_resources("AWS::IAM::Policy").values()
        if policy["Properties"]["Roles"][0]["Ref"].startswith(role)
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]


def test_only_jobs_of_one_repository_and_environment_deploy(
    github: dict[str, Template],
) -> None:
    for name, template in github.items():
        found = roles(template)
        assert found.keys() == {f"acme-{name}-deploy", f"acme-{name}-diff"}
        subjects = {
            role.rpartition("-")[2]: trust["Condition"]["StringEquals"][SUBJECT]
            for role, trust in found.items()
        }
        assert subjects == {
            "deploy": f"repo:acme/lake:environment:{name}",
            "diff": "repo:acme/lake:pull_request",
        }
        for trust in found.values():
            assert trust["Action"] == "sts:AssumeRoleWithWebIdentity"
            assert trust["Condition"].keys() == {"StringEquals"}
            audience = trust["Condition"]["StringEquals"][SUBJECT.replace(":sub", ":aud")]
            assert audience == "sts.amazonaws.com"


def test_github_is_made_known_once_per_account(github: dict[str, Template]) -> None:
    github["dev"].has_resource_properties(
        "AWS::IAM::OIDCProvider",
        {"Url": "https://token.actions.githubusercontent.com",
         "ClientIdList": ["sts.amazonaws.com"]},
    )  # fmt: skip
    github["prod"].resource_count_is("AWS::IAM::OIDCProvider", 0)
    assert "oidc-provider/token.actions" in json.dumps(roles(github["prod"]))


def test_a_deployment_takes_the_roles_of_the_bootstrap_and_tries_the_release(
    github: dict[str, Template],
) -> None:
    actions = {
        action: json.dumps(statement["Resource"])
        for statement in rights(github["dev"], "deploy")
        for action in as_list(statement["Action"])
    }

    assert actions.keys() == {
        "sts:AssumeRole", "states:ListExecutions", "states:StartExecution",
        "states:DescribeExecution", "s3:ListBucket", "s3:GetObject", "kms:Decrypt",
    }  # fmt: skip
    taken = [part for part in actions["sts:AssumeRole"].split('"') if "role/" in part]
    assert sorted(part.partition("role/")[2] for part in taken) == [
        f"cdk-hnb659fds-{kind}-role-{DEV}-eu-west-1"
        for kind in ("deploy", "file-publishing", "lookup")
    ]
    assert "landing-111111111111-eu-west-1/runs/*" in actions["s3:GetObject"]


def test_a_diff_reads_templates_and_nothing_else(github: dict[str, Template]) -> None:
    [statement] = rights(github["dev"], "diff")

    assert statement["Action"] == ["cloudformation:DescribeStacks", "cloudformation:GetTemplate"]
    assert "stack/acme-dev-*" in json.dumps(statement["Resource"])


def test_the_workflows_get_the_roles_that_the_stacks_make(
    environments_of_github: dict[str, Environment], tmp_path: Path
) -> None:
    found = targets(environments_of_github)
    assert found["prod"] == {
        "environment": "prod",
        "region": "eu-west-1",
        "deploy": f"arn:aws:iam::{PROD}:role/acme-prod-deploy",
        "diff": f"arn:aws:iam::{PROD}:role/acme-prod-diff",
    }
    with_pipeline = read_environments(project(tmp_path, PIPELINE) / "config/environments")
    assert targets(with_pipeline) == {}
    china = with_pipeline["dev"].model_copy(update={"region": "cn-north-1"})
    assert role_arn(china, "deploy").startswith("arn:aws-cn:iam::")


def test_an_environment_without_delivery_trusts_nobody(environments: dict[str, Stacks]) -> None:
    for stacks in environments.values():
        assert "delivery" not in stacks
        for template in stacks.values():
            assert "sts:AssumeRoleWithWebIdentity" not in json.dumps(template.to_json())


# The pipeline.


@pytest.mark.long
def test_the_pipeline_checks_deploys_tries_and_asks_before_the_next_environment(
    piped: tuple[Template, Json],
) -> None:
    [pipeline] = piped[0].find_resources("AWS::CodePipeline::Pipeline").values()
    stages = {
        stage["Name"]: [
            action["Name"] for action in sorted(stage["Actions"], key=lambda a: a["RunOrder"])
        ]
        for stage in pipeline["Properties"]["Stages"]
    }

    assert pipeline["Properties"]["Name"] == "acme-dev-pipeline"
    assert list(stages) == ["Source", "Build", "UpdatePipeline", "Assets", "dev", "prod"]
    assert (stages["dev"][0], stages["dev"][-1]) == ("check", "smoke_dev")
    assert (stages["prod"][0], stages["prod"][-1]) == ("approve_prod", "smoke_prod")
    deployed = {name.partition(".")[0] for name in stages["prod"] if name.endswith(".Deploy")}
    parts = ("storage", "compute", "orchestration", "monitoring", "delivery")
    assert deployed == {f"acme-prod-{part}" for part in parts}


@pytest.mark.long
def test_the_pipeline_is_fed_by_the_connection_and_the_branch(piped: tuple[Template, Json]) -> None:
    piped[0].has_resource_properties(
        "AWS::CodePipeline::Pipeline",
        {
            "Stages": Match.array_with(
                [
                    Match.object_like(
                        {
                            "Name": "Source",
                            "Actions": [
                                Match.object_like(
                                    {
                                        "Configuration": Match.object_like(
                                            {
                                                "ConnectionArn": CONNECTION.format(DEV),
                                                "FullRepositoryId": "acme/lake",
                                                "BranchName": "main",
                                            }
                                        )
                                    }
                                )
                            ],
                        }
                    )
                ]
            )
        },
    )


@pytest.mark.long
def test_an_environment_trusts_the_pipeline_in_place_of_github(
    piped: tuple[Template, Json],
) -> None:
    template, trusted = piped
    assert trusted.keys() == {"acme-prod-smoke"}
    trust = trusted["acme-prod-smoke"]
    caller = trust["Condition"]["ArnEquals"]["aws:PrincipalArn"]

    assert f":iam::{DEV}:role/acme-dev-pipeline_smoke" in json.dumps(caller)
    template.has_resource_properties("AWS::IAM::Role", {"RoleName": "acme-dev-pipeline_smoke"})
    text = json.dumps(template.to_json())
    assert f":iam::{PROD}:role/acme-prod-smoke" in text
    assert "lakekit smoke --environment prod" in text
    assert "lakekit synth --pipeline" in text
    assert "make " not in text


@pytest.mark.parametrize("has_own_repository", [True, False])
def test_the_pipeline_calls_what_its_repository_has(
    has_own_repository: bool, tmp_path: Path
) -> None:
    if has_own_repository:
        make_project_of_ours(tmp_path, version="0.1.0")
    commands = commands_of(tmp_path)

    calls = " ".join((commands.setup, *commands.check, commands.synth, commands.lakekit))
    assert ("make" in calls) != has_own_repository
    assert "--pipeline" in commands.synth


def test_without_the_setting_there_is_no_pipeline(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"no file in config/environments has delivery.pipeline"):
        build([], project=PROJECT, out=str(tmp_path), context=CONTEXT, pipeline=True)


# Streams.


def test_a_stream_becomes_files_of_the_inbox_by_size_and_age(streams: Template) -> None:
    streams.has_resource_properties(
        "AWS::Kinesis::Stream",
        {"Name": "acme-dev-orders", "StreamEncryption": Match.any_value(),
         "StreamModeDetails": {"StreamMode": "ON_DEMAND"}},
    )  # fmt: skip
    [delivery] = streams.find_resources("AWS::KinesisFirehose::DeliveryStream").values()
    target = delivery["Properties"]["ExtendedS3DestinationConfiguration"]

    assert delivery["Properties"]["DeliveryStreamType"] == "KinesisStreamAsSource"
    assert target["Prefix"] == "inbox/shop/orders/"
    assert target["FileExtension"] == ".jsonl.gz"
    assert target["BufferingHints"] == {"IntervalInSeconds": 60, "SizeInMBs": 5}
    assert target["ProcessingConfiguration"] == {"Enabled": False}
    assert target["CloudWatchLoggingOptions"]["Enabled"] is True
    # The bucket refuses objects with another key.
    assert "KMSEncryptionConfig" in target["EncryptionConfiguration"]


def test_firehose_writes_the_folder_of_its_contract_alone(streams: Template) -> None:
    [role] = streams.find_resources("AWS::IAM::Role")
    granted = {
        action: json.dumps(statement["Resource"])
        for statement in rights(streams, role)
        for action in as_list(statement["Action"])
    }

    assert "/inbox/shop/orders/*" in granted["s3:PutObject"]
    assert [action for action in granted if action.endswith("*") or "Delete" in action] == []
    assert "s3:GetObject" not in granted


def test_the_sandbox_knows_what_roles_and_streams_are_made_of(
    github: dict[str, Template], streams: Template
) -> None:
    for template in (*github.values(), streams):
        kinds = {each["Type"] for each in template.to_json()["Resources"].values()}
        assert kinds <= CREATORS.keys() | NOT_BUILT.keys()


def test_without_streams_there_is_no_kinesis(environments: dict[str, Stacks]) -> None:
    for stacks in environments.values():
        stacks["orchestration"].resource_count_is("AWS::Kinesis::Stream", 0)


def test_no_stack_but_that_of_data_exports_anything(environments: dict[str, Stacks]) -> None:
    """A step, a machine, a network can go without a second deployment that lets go of exports."""
    for stacks in environments.values():
        exporting = {name for name, each in stacks.items() if each.to_json().get("Outputs")}
        assert exporting == {"storage"}
        text = json.dumps(stacks["storage"].to_json()["Outputs"])
        assert "Lambda" not in text
        assert "Role" not in text
