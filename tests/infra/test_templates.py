"""What the templates of dev say; synthesised once, without packages."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aws_cdk.assertions import Match, Template

from cdk.app import build
from cdk.stacks.compute import FUNCTIONS, JOBS

ROOT = Path(__file__).parents[2]
COPIED = ("config", "lakekit", "lambdas", "glue_jobs", "state_machines")
SOURCE = "source: shop_api\nbase_url: https://shop.example\nschedule: rate(1 day)\n"


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository's inputs, with one source and a script for every job."""
    root = tmp_path_factory.mktemp("repository")
    for folder in COPIED:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, root / folder, ignore=ignore)
    (root / "config/sources/shop_api.yaml").write_text(SOURCE)
    for job in JOBS:
        (root / "glue_jobs" / f"{job}.py").touch()
    return root


@pytest.fixture(scope="session")
def stacks(root: Path) -> dict[str, Template]:
    context = {**json.loads((ROOT / "cdk.json").read_text())["context"], "bundle": False}
    app = build(["dev"], out=str(root / "cdk.out"), context=context, root=root)
    stage = app.node.find_child("dev")
    names = ("storage", "compute", "orchestration")
    return {name: Template.from_stack(getattr(stage, name)) for name in names}


def statements(template: Template) -> Iterator[dict[str, Any]]:
    for policy in template.find_resources("AWS::IAM::Policy").values():
        yield from policy["Properties"]["PolicyDocument"]["Statement"]


def test_buckets_are_private_encrypted_and_versioned(stacks: dict[str, Template]) -> None:
    rule = {"ServerSideEncryptionByDefault": Match.object_like({"SSEAlgorithm": "aws:kms"})}
    expected = {
        "BucketEncryption": {
            "ServerSideEncryptionConfiguration": [Match.object_like(rule)],
        },
        "PublicAccessBlockConfiguration": {
            "BlockPublicAcls": True,
            "BlockPublicPolicy": True,
            "IgnorePublicAcls": True,
            "RestrictPublicBuckets": True,
        },
        "VersioningConfiguration": {"Status": "Enabled"},
    }
    stacks["storage"].resource_properties_count_is("AWS::S3::Bucket", expected, 2)
    stacks["storage"].resource_count_is("AWS::S3::BucketPolicy", 2)


def test_only_landing_sends_events(stacks: dict[str, Template]) -> None:
    events = {"NotificationConfiguration": {"EventBridgeConfiguration": Match.any_value()}}
    stacks["storage"].resource_properties_count_is("AWS::S3::Bucket", events, 1)
    stacks["storage"].resource_count_is("AWS::Lambda::Function", 0)


def test_every_step_has_its_function(stacks: dict[str, Template]) -> None:
    functions = stacks["compute"].find_resources("AWS::Lambda::Function").values()
    handlers = {f["Properties"]["Handler"] for f in functions}
    assert handlers == {f"lambdas.{step}.handler.handler" for step in FUNCTIONS}
    assert {f["Properties"]["Runtime"] for f in functions} == {"python3.11"}


@pytest.mark.parametrize("job", JOBS)
def test_jobs_run_on_glue_5_1_without_retries(stacks: dict[str, Template], job: str) -> None:
    expected = {
        "Name": f"lakekit-dev-{job}",
        "GlueVersion": "5.1",
        "WorkerType": "G.1X",
        "NumberOfWorkers": 2,
        "MaxRetries": 0,
        "Timeout": 60,
    }
    stacks["compute"].has_resource_properties("AWS::Glue::Job", expected)


def test_jobs_get_the_iceberg_catalog_in_one_conf(stacks: dict[str, Template]) -> None:
    for job in stacks["compute"].find_resources("AWS::Glue::Job").values():
        conf = json.dumps(job["Properties"]["DefaultArguments"]["--conf"])
        assert "spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog" in conf
        assert "spark.sql.catalog.lake.warehouse=s3://" in conf


def test_machines_get_the_definition_files_unchanged(stacks: dict[str, Template]) -> None:
    machines = stacks["orchestration"].find_resources("AWS::StepFunctions::StateMachine")
    definitions = [m["Properties"]["DefinitionString"] for m in machines.values()]
    files = [path.read_text() for path in (ROOT / "state_machines").glob("*.asl.json")]
    assert sorted(definitions) == sorted(files)


def test_a_source_with_a_schedule_gets_a_rule_that_dev_disables(
    stacks: dict[str, Template],
) -> None:
    expected = {"ScheduleExpression": "rate(1 day)", "State": "DISABLED"}
    stacks["orchestration"].has_resource_properties("AWS::Events::Rule", expected)


def test_a_dropped_file_reaches_route_file_through_a_queue(stacks: dict[str, Template]) -> None:
    template = stacks["orchestration"]
    pattern = Match.object_like(
        {"detail": Match.object_like({"object": {"key": [{"prefix": "inbox/"}]}})}
    )
    template.has_resource_properties("AWS::Events::Rule", {"EventPattern": pattern})
    template.has_resource_properties(
        "AWS::SQS::Queue", {"RedrivePolicy": Match.object_like({"maxReceiveCount": 5})}
    )
    template.has_resource_properties(
        "AWS::Lambda::EventSourceMapping", {"FunctionResponseTypes": ["ReportBatchItemFailures"]}
    )


def test_no_role_has_a_wildcard_action(stacks: dict[str, Template]) -> None:
    for template in stacks.values():
        for statement in statements(template):
            actions = statement["Action"]
            assert "*" not in ([actions] if isinstance(actions, str) else actions)


def test_roles_have_no_managed_policies(stacks: dict[str, Template]) -> None:
    roles = stacks["compute"].find_resources("AWS::IAM::Role").values()
    assert [r for r in roles if "ManagedPolicyArns" in r["Properties"]] == []


def test_the_same_inputs_give_the_same_templates(stacks: dict[str, Template], root: Path) -> None:
    context = {**json.loads((ROOT / "cdk.json").read_text())["context"], "bundle": False}
    app = build(["dev"], out=str(root / "again.out"), context=context, root=root)
    stage = app.node.find_child("dev")
    for name, template in stacks.items():
        assert Template.from_stack(getattr(stage, name)).to_json() == template.to_json()
