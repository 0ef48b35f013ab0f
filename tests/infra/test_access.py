"""What each role may do: what its step needs, and no more."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from aws_cdk.assertions import Template

from cdk.constructs.access import FUNCTION_ACCESS, JOB_ACCESS
from cdk.constructs.keys import PUBLISHERS
from cdk.stacks.compute import CATALOG, FUNCTIONS, HOLDERS, JOBS, LINEAGE
from lakekit import layout
from tests.infra.conftest import PROJECT, Stacks

Rights = dict[str, set[str]]


def rights(stacks: Stacks, step: str) -> Rights:
    """Return the resources of each action of one step's role, as text."""
    found: Rights = {}
    for name, policy in stacks["compute"].find_resources("AWS::IAM::Policy").items():
        if not name.startswith(step.replace("_", "")):
            continue
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]:
            for action in as_list(statement["Action"]) if statement["Effect"] == "Allow" else ():
                resources = {json.dumps(r) for r in as_list(statement["Resource"])}
                found.setdefault(action, set()).update(resources)
    assert found, step
    return found


def last_part(text: str) -> str:
    """Return the end of an ARN that begins with the partition."""
    return str(json.loads(text)["Fn::Join"][1][-1])


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def prefixes(granted: Rights, action: str, bucket: str = "landing") -> set[str]:
    """Return the keys of one bucket that an action may use: `/raw/*` and the like."""
    own = {text for text in granted.get(action, set()) if f"GetAtt{bucket}" in text}
    return {json.loads(text)["Fn::Join"][1][-1] for text in own}


def statements(template: Template) -> Iterator[dict[str, Any]]:
    for policy in template.find_resources("AWS::IAM::Policy").values():
        yield from policy["Properties"]["PolicyDocument"]["Statement"]


@pytest.mark.parametrize("step", [*FUNCTIONS, *JOBS])
def test_a_step_reads_and_writes_its_prefixes_of_the_landing_bucket_alone(
    stacks: Stacks, step: str
) -> None:
    access = {**FUNCTION_ACCESS, **JOB_ACCESS}[step]
    granted = rights(stacks, step)

    assert prefixes(granted, "s3:GetObject") == {f"/{prefix}*" for prefix in access.read}
    assert prefixes(granted, "s3:PutObject") == {f"/{prefix}*" for prefix in access.write}
    assert prefixes(granted, "s3:DeleteObject") == {f"/{prefix}*" for prefix in access.delete}
    parts = {f"/{prefix}*" for prefix in access.parts}
    assert prefixes(granted, "s3:AbortMultipartUpload") == parts


def test_only_entries_of_the_index_are_ever_deleted() -> None:
    deleted = {key for each in (FUNCTION_ACCESS | JOB_ACCESS).values() for key in each.delete}

    assert deleted
    assert all(key.startswith(layout.INDEX) for key in deleted)


@pytest.mark.parametrize("step", FUNCTIONS)
def test_a_function_does_not_write_the_lake(dev: Stacks, step: str) -> None:
    granted = rights(dev, step)

    assert prefixes(granted, "s3:PutObject", "lake") == set()
    assert prefixes(granted, "s3:GetObject", "lake") <= {"/warehouse/*/metadata/*"}
    catalog = {each for each in granted if each.startswith("glue:") and "Job" not in each}
    assert catalog <= {"glue:GetTable"}


@pytest.mark.parametrize("job", JOBS)
def test_a_job_keeps_the_warehouse_and_its_catalog(dev: Stacks, job: str) -> None:
    granted = rights(dev, job)

    tables = "/warehouse/lakekit_dev.db/"
    staged = {"/warehouse/.staging/*"} if job in ("merge_scd2", "rebuild_table") else set()
    written = f"{tables}*/metadata/*" if job == "create_tables" else f"{tables}*"
    assert prefixes(granted, "s3:GetObject", "lake") == {f"{tables}*", *staged}
    for action in ("s3:PutObject", "s3:DeleteObject"):
        assert prefixes(granted, action, "lake") == {written, *staged}
    catalog = {each for each in granted if each.startswith("glue:") and "Job" not in each}
    looks = {"glue:GetDatabase"} if "CreateTable" in CATALOG[job] else set()
    drops = {"glue:DeleteTable"} if job == "rebuild_table" else set()
    assert catalog == {f"glue:{action}" for action in CATALOG[job]} | looks | drops


@pytest.mark.parametrize("job", JOBS)
def test_only_a_rebuild_drops_tables_and_its_shadows_alone(dev: Stacks, job: str) -> None:
    may = {last_part(text) for text in rights(dev, job).get("glue:DeleteTable", set())}

    tables = {arn.rpartition("/")[2] for arn in may if ":table/" in arn}
    shadows = {"*__rebuild", "*__rebuild_journal", "*__rebuild_quarantine"}
    assert tables == (shadows if job == "rebuild_table" else set())


@pytest.mark.parametrize("job", JOBS)
def test_a_job_of_a_state_machine_sees_its_own_runs_alone(dev: Stacks, job: str) -> None:
    seen = {last_part(text) for text in rights(dev, job).get("glue:GetJobRuns", set())}
    seen = {arn.rpartition(":")[2] for arn in seen}

    assert seen == (set() if job == "rebuild_table" else {f"job/lakekit-dev-{job}"})


def secrets(template: Template) -> dict[str, set[str]]:
    """Return the names of the secrets that each role may read, by the start of the role's name."""
    found: dict[str, set[str]] = {}
    for kind in ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"):
        for policy in template.find_resources(kind).values():
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]:
                if statement["Action"] == "secretsmanager:GetSecretValue":
                    [role] = policy["Properties"]["Roles"]
                    names = found.setdefault(role["Ref"].partition("role")[0], set())
                    names |= {last_part(json.dumps(arn)).partition(":secret:")[2]
                              for arn in as_list(statement["Resource"])}  # fmt: skip
    return found


def test_extraction_alone_reads_the_secrets_that_sources_of_the_environment_name(
    environments: dict[str, Stacks],
) -> None:
    assert secrets(environments["dev"]["compute"]) == {
        "extractpages": {"lakekit/dev/shop_api-??????"}
    }
    # Its only source is not in these.
    for name in ("staging", "prod"):
        assert secrets(environments[name]["compute"]) == {}


def test_who_sends_lineage_reads_the_one_secret_of_its_address(two: dict[str, Stacks]) -> None:
    named = {"lakekit/dev/lineage-??????"}

    assert secrets(two["dev"]["compute"]) == {step.replace("_", ""): named for step in LINEAGE}


@pytest.mark.parametrize("step", FUNCTIONS)
def test_only_who_leaves_or_finds_something_pending_starts_runs(dev: Stacks, step: str) -> None:
    granted = rights(dev, step)

    starts = {"complete_run", "record_failure", "start_pending", "route_file", "sweep"}
    assert ("states:StartExecution" in granted) == (step in starts)
    assert ("states:DescribeExecution" in granted) == (step in {*starts, "claim_landings"})


@pytest.mark.parametrize("step", [*FUNCTIONS, *JOBS])
def test_a_role_has_no_wildcard_where_a_name_is_known(stacks: Stacks, step: str) -> None:
    everywhere = {action for action, to in rights(stacks, step).items() if '"*"' in to}

    # X-Ray and CloudWatch have no resources to name, nor has who looks at networks.
    traces = {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}
    looks = {each for each in everywhere if each.startswith("ec2:Describe")}
    assert everywhere - looks <= {"cloudwatch:PutMetricData", *traces}
    assert bool(looks) == ("network" in stacks)


@pytest.mark.parametrize("job", JOBS)
def test_a_job_reads_its_script_and_packages_and_nothing_else_of_their_bucket(
    stacks: Stacks, job: str
) -> None:
    granted = {
        (action, json.loads(text)["Fn::Join"][1][-1].partition("-assets-")[2])
        for action, resources in rights(stacks, job).items()
        for text in resources
        if "-assets-" in text
    }
    if job in HOLDERS:
        # It reads contracts, in an object that only its ending names: see test_configuration.
        [files] = {key for _, key in granted if key.endswith("-config.zip")}
        granted.remove(("s3:GetObject", files))

    (properties,) = (
        each["Properties"]
        for each in stacks["compute"].find_resources("AWS::Glue::Job").values()
        if each["Properties"]["Name"].endswith(job)
    )
    used = set(re.findall(r"-assets-([^/]+/[0-9a-f]{64}[.a-z]+)", json.dumps(properties)))
    assert len(used) == 3
    assert granted == {("s3:GetObject", key) for key in used}


def test_no_policy_covers_the_whole_bucket_of_packages(stacks: Stacks) -> None:
    for template in stacks.values():
        for policy in template.find_resources("AWS::IAM::Policy").values():
            text = json.dumps(policy)
            assert re.findall(r"-assets-[^/\"]+(?:/\*)?\"", text) == []


def test_a_machine_uses_the_key_of_the_topic_through_sns_alone(stacks: Stacks) -> None:
    through = [
        each["Condition"]["StringEquals"]["kms:ViaService"]
        for name, policy in stacks["compute"].find_resources("AWS::IAM::Policy").items()
        if name.startswith("machines")
        for each in policy["Properties"]["PolicyDocument"]["Statement"]
        if "kms:" in json.dumps(each["Action"])
    ]

    assert through == ["sns.eu-west-1.amazonaws.com"] * 2


def test_what_watches_may_publish_to_the_encrypted_failure_topic(stacks: Stacks) -> None:
    def allowed(kind: str, stack: str, document: str) -> set[str]:
        policies = stacks[stack].find_resources(kind).values()
        statements = [s for p in policies for s in p["Properties"][document]["Statement"]]
        [mine] = [s for s in statements if s.get("Sid") == "PublishNotices"]
        assert mine["Principal"]["Service"] == [f"{each}.amazonaws.com" for each in PUBLISHERS]
        assert "aws:SourceAccount" in mine["Condition"]["StringEquals"]
        return set(as_list(mine["Action"]))

    assert allowed("AWS::SNS::TopicPolicy", "compute", "PolicyDocument") == {"sns:Publish"}
    assert allowed("AWS::KMS::Key", "storage", "KeyPolicy") == {
        "kms:Decrypt",
        "kms:GenerateDataKey*",
    }


@pytest.mark.parametrize("step", [*FUNCTIONS, *JOBS])
def test_a_step_uses_the_key_of_data_through_a_service_and_encrypts_nothing_itself(
    stacks: Stacks, step: str
) -> None:
    mine = [
        statement
        for name, policy in stacks["compute"].find_resources("AWS::IAM::Policy").items()
        if name.startswith(step.replace("_", ""))
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        # That of the catalog is another key, which Glue uses: see test_governance.
        if "kms:" in json.dumps(statement["Action"]) and "glue." not in json.dumps(statement)
    ]

    through = {each["Condition"]["StringEquals"]["kms:ViaService"] for each in mine}
    assert {a for each in mine for a in as_list(each["Action"])} == {
        "kms:Decrypt",
        "kms:GenerateDataKey",
    }
    assert through == {"s3.eu-west-1.amazonaws.com"}


def test_services_take_roles_for_this_account_alone(stacks: Stacks) -> None:
    for template in stacks.values():
        for role in template.find_resources("AWS::IAM::Role").values():
            for statement in role["Properties"]["AssumeRolePolicyDocument"]["Statement"]:
                assert "aws:SourceAccount" in statement["Condition"]["StringEquals"]


def test_no_arn_names_the_partition_but_those_that_an_environment_names(stacks: Stacks) -> None:
    files = (PROJECT / "config/environments").glob("*.yaml")
    given = [arn for file in files for arn in re.findall(r"arn:aws:[\w:/-]+", file.read_text())]
    for template in stacks.values():
        text = json.dumps(template.to_json())
        for each in ("arn:aws:states:::", *given):
            text = text.replace(each, "")
        assert "arn:aws:" not in text


def test_no_role_has_a_wildcard_action(stacks: Stacks) -> None:
    for template in stacks.values():
        for statement in statements(template):
            actions = statement["Action"]
            assert "*" not in ([actions] if isinstance(actions, str) else actions)


def test_roles_have_no_managed_policies(stacks: Stacks) -> None:
    roles = stacks["compute"].find_resources("AWS::IAM::Role").values()
    assert [r for r in roles if "ManagedPolicyArns" in r["Properties"]] == []
