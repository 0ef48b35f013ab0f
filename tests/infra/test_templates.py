"""The templates of the environments."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest
from aws_cdk.assertions import Match
from moto import mock_aws

from cdk.stacks.compute import FUNCTIONS, JOBS
from lakekit.config.workers import Jobs
from lakekit.sandbox.creators import CREATORS, NOT_BUILT
from lakekit.sandbox.resources import Resources, names_of
from lakekit.sandbox.template import Assembly
from lakekit.spark_conf import SETTINGS
from tests.infra.conftest import Stacks, synthesise

ROOT = Path(__file__).parents[2]


def test_only_landing_sends_events(stacks: Stacks) -> None:
    events = {"NotificationConfiguration": {"EventBridgeConfiguration": Match.any_value()}}
    stacks["storage"].resource_properties_count_is("AWS::S3::Bucket", events, 1)
    stacks["storage"].resource_count_is("AWS::Lambda::Function", 0)


def test_every_step_has_its_function(stacks: Stacks) -> None:
    functions = stacks["compute"].find_resources("AWS::Lambda::Function").values()
    handlers = {f["Properties"]["Handler"] for f in functions}
    assert handlers == {f"lambdas.{step}.handler.handler" for step in FUNCTIONS}
    assert {f["Properties"]["Runtime"] for f in functions} == {"python3.11"}


@pytest.mark.parametrize("job", JOBS)
def test_jobs_run_on_glue_5_1_without_retries(dev: Stacks, job: str) -> None:
    expected = {
        "Name": f"lakekit-dev-{job}",
        "GlueVersion": "5.1",
        "MaxRetries": 0,
        "Timeout": 60,
    }
    dev["compute"].has_resource_properties("AWS::Glue::Job", expected)


def test_what_is_not_started_with_workers_of_its_plan_has_the_limits_of_the_environment(
    dev: Stacks,
) -> None:
    jobs = [each["Properties"] for each in dev["compute"].find_resources("AWS::Glue::Job").values()]

    assert {each["Name"].rpartition("-")[2]: each["NumberOfWorkers"] for each in jobs} == {
        "create_tables": 2, "merge_scd2": 2, "maintain_tables": 10, "rebuild_table": 10
    }  # fmt: skip
    for each in jobs:
        assert (each["WorkerType"], each["ExecutionClass"]) == ("G.1X", "STANDARD")
        assert each["DefaultArguments"]["--enable-auto-scaling"] == "true"


def test_only_plan_tables_knows_the_limits_of_jobs(stacks: Stacks) -> None:
    functions = stacks["compute"].find_resources("AWS::Lambda::Function").values()
    given = {
        each["Properties"]["Handler"].split(".")[1]: variables["LAKEKIT_JOBS"]
        for each in functions
        if "LAKEKIT_JOBS" in (variables := each["Properties"]["Environment"]["Variables"])
    }

    assert given.keys() == {"plan_tables"}
    assert Jobs.model_validate_json(given["plan_tables"]) == Jobs(
        timeout_minutes=json.loads(given["plan_tables"])["timeout_minutes"]
    )


def test_one_rebuild_runs_at_once_because_the_next_takes_over_its_lease(stacks: Stacks) -> None:
    jobs = stacks["compute"].find_resources("AWS::Glue::Job").values()
    most = {
        job["Properties"]["Name"].rpartition("-")[2]: job["Properties"]["ExecutionProperty"]
        for job in jobs
    }

    assert most.pop("rebuild_table") == {"MaxConcurrentRuns": 1}
    assert all(each["MaxConcurrentRuns"] > 1 for each in most.values())


def test_jobs_get_the_iceberg_catalog_and_every_setting_in_one_conf(stacks: Stacks) -> None:
    for job in stacks["compute"].find_resources("AWS::Glue::Job").values():
        conf = json.dumps(job["Properties"]["DefaultArguments"]["--conf"])
        assert "spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog" in conf
        assert "spark.sql.catalog.lake.warehouse=s3://" in conf
        # iceberg #5965: every commit would be a version of the table, and their number has a limit.
        assert "spark.sql.catalog.lake.glue.skip-archive=true" in conf
        # A session made of another one has only these, not what was set later.
        assert all(f"{key}={value}" in conf for key, value in SETTINGS.items())


def test_no_table_is_in_a_template(stacks: Stacks) -> None:
    """cloudformation-coverage-roadmap #1919, #2495: an update of one breaks an Iceberg table."""
    for template in stacks.values():
        template.resource_count_is("AWS::Glue::Table", 0)


def test_machines_get_the_definition_files_unchanged_but_for_time_outs(stacks: Stacks) -> None:
    machines = stacks["compute"].find_resources("AWS::StepFunctions::StateMachine")
    definitions = [m["Properties"]["DefinitionString"] for m in machines.values()]
    files = [path.read_text() for path in (ROOT / "state_machines").glob("*.asl.json")]
    seconds = re.compile(r'"TimeoutSeconds": ("\$\{\w+\}"|\d+)')
    assert sorted(seconds.sub("", text) for text in definitions) == sorted(
        seconds.sub("", text) for text in files
    )


def test_the_example_source_is_of_dev_which_the_sandbox_deploys_and_of_no_other(
    environments: dict[str, Stacks],
) -> None:
    scheduled = {
        name: sum(
            "source" in json.loads(each["Properties"]["Target"]["Input"])
            for each in stacks["orchestration"].find_resources("AWS::Scheduler::Schedule").values()
        )
        for name, stacks in environments.items()
    }

    assert scheduled == {"dev": 1, "prod": 0, "staging": 0}


def test_a_dropped_file_reaches_route_file_through_a_queue(stacks: Stacks) -> None:
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


def test_route_file_has_time_for_a_batch_that_stays_hidden_six_times_as_long(
    stacks: Stacks,
) -> None:
    functions = stacks["compute"].find_resources("AWS::Lambda::Function").values()
    handlers = {f["Properties"]["Handler"]: f["Properties"]["Timeout"] for f in functions}
    seconds = handlers["lambdas.route_file.handler.handler"]
    assert seconds == handlers["lambdas.extract_pages.handler.handler"]
    inbox = {"RedrivePolicy": Match.any_value(), "VisibilityTimeout": 6 * seconds}
    stacks["orchestration"].has_resource_properties("AWS::SQS::Queue", inbox)


def test_the_same_inputs_give_the_same_templates(dev: Stacks, tmp_path: Path) -> None:
    again = synthesise(tmp_path, "dev")["dev"]

    assert {name: each.to_json() for name, each in again.items()} == {
        name: each.to_json() for name, each in dev.items()
    }


def test_no_two_environments_share_a_name(environments: dict[str, Stacks]) -> None:
    buckets = [
        bucket["Properties"]["BucketName"]
        for stacks in environments.values()
        for bucket in stacks["storage"].find_resources("AWS::S3::Bucket").values()
    ]

    assert len(set(buckets)) == len(buckets) == 13


@pytest.mark.parametrize("name", ["prod", "staging"])
@mock_aws
def test_the_sandbox_builds_what_another_environment_than_dev_has(
    environments: dict[str, Stacks], name: str
) -> None:
    session: Any = boto3.Session(region_name="eu-west-1")
    templates = {part: template.to_json() for part, template in environments[name].items()}
    resources = Resources(
        Assembly(Path(), "123456789012", "eu-west-1", templates), cache(session.client)
    )

    resources.create_all()

    machines = session.client("stepfunctions").list_state_machines()["stateMachines"]
    assert {each["name"] for each in machines} == {
        f"lakekit-{name}-{machine}" for machine in names_of(resources)["machines"]
    }
    assert {"load_source", "maintain_tables"} <= names_of(resources)["machines"].keys()


def test_the_sandbox_says_of_every_resource_whether_it_builds_it(stacks: Stacks) -> None:
    kinds = {
        each["Type"] for template in stacks.values()
        for each in template.to_json()["Resources"].values()
    }  # fmt: skip

    assert kinds <= CREATORS.keys() | NOT_BUILT.keys()
