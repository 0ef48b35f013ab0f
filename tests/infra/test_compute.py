"""What functions, machines and jobs get: memory, concurrency, traces, logs with a key."""

from typing import Any

import pytest

from cdk.constructs.pause import WORK as PAUSE
from cdk.constructs.sharing import WORK as SHARE
from cdk.stacks.compute import FUNCTIONS, JOBS
from lakekit.aws.doctor.before import PAUSING, RESERVED, SHARING
from lakekit.config.functions import MEMORY_MB
from tests.infra.conftest import ROOT, Stacks

Json = dict[str, Any]


def functions(stacks: Stacks) -> dict[str, Json]:
    found = stacks["compute"].find_resources("AWS::Lambda::Function").values()
    return {each["Properties"]["Handler"].split(".")[1]: each["Properties"] for each in found}


def jobs(stacks: Stacks) -> dict[str, Json]:
    found = stacks["compute"].find_resources("AWS::Glue::Job").values()
    return {each["Properties"]["Name"].rpartition("-")[2]: each["Properties"] for each in found}


def log_groups(stacks: Stacks) -> dict[str, Json]:
    """Return the log groups by their names, with a role's logical id in place of its name."""

    def text(name: Any) -> str:
        parts = name["Fn::Join"][1] if isinstance(name, dict) else [name]
        return "".join(part if isinstance(part, str) else f"<{part['Ref']}>" for part in parts)

    found = stacks["compute"].find_resources("AWS::Logs::LogGroup").values()
    return {text(each["Properties"]["LogGroupName"]): each["Properties"] for each in found}


def test_a_function_has_memory_by_its_work(stacks: Stacks) -> None:
    memory = {step: each["MemorySize"] for step, each in functions(stacks).items()}

    assert memory == {step: MEMORY_MB[step] for step in memory}
    # Those that read metadata of Iceberg.
    assert all(memory[step] >= 1024 for step in ("plan_tables", "complete_run", "sweep"))


@pytest.mark.parametrize(("name", "reserved"), [("prod", True), ("dev", False)])
def test_functions_have_concurrency_of_their_own_where_the_environment_says_so(
    environments: dict[str, Stacks], name: str, reserved: bool
) -> None:
    found = {
        step: each.get("ReservedConcurrentExecutions")
        for step, each in functions(environments[name]).items()
    }

    assert found == {step: FUNCTIONS[step].at_once if reserved else None for step in found}


def test_an_account_keeps_the_concurrency_that_it_cannot_give_away() -> None:
    """Of 1,000 executions at once, Lambda keeps 100 for functions without a share."""
    assert sum(work.at_once for work in FUNCTIONS.values()) <= 900


def test_the_account_is_asked_for_what_functions_reserve() -> None:
    reserved = sum(work.at_once for work in FUNCTIONS.values())

    assert (reserved, SHARE.at_once, PAUSE.at_once) == (RESERVED, SHARING, PAUSING)
    page = (ROOT / "docs/deploy.md").read_text()
    assert f"{RESERVED} together, {SHARING} more for ShareTable and {PAUSING} for Pause" in page


def test_functions_and_machines_are_traced(stacks: Stacks) -> None:
    machines = stacks["compute"].find_resources("AWS::StepFunctions::StateMachine").values()

    assert {each["TracingConfig"]["Mode"] for each in functions(stacks).values()} == {"Active"}
    assert all(each["Properties"]["TracingConfiguration"]["Enabled"] for each in machines)


def test_machines_log_each_state_without_its_data(stacks: Stacks) -> None:
    for machine in stacks["compute"].find_resources("AWS::StepFunctions::StateMachine").values():
        logging = machine["Properties"]["LoggingConfiguration"]
        assert (logging["Level"], logging["IncludeExecutionData"]) == ("ALL", False)


@pytest.mark.parametrize(("name", "days"), [("prod", 365), ("dev", 7)])
def test_every_log_has_a_key_and_an_end(
    environments: dict[str, Stacks], name: str, days: int
) -> None:
    groups = log_groups(environments[name])

    assert {each["RetentionInDays"] for each in groups.values()} == {days}
    assert all("KmsKeyId" in each for each in groups.values())
    for step in FUNCTIONS:
        assert f"/aws/lambda/lakekit-{name}-{step}" in groups
    for machine in ("load_source", "maintain_tables"):
        assert f"/aws/vendedlogs/states/lakekit-{name}-{machine}" in groups


def test_the_log_groups_of_a_job_are_those_that_glue_writes_for_its_role(stacks: Stacks) -> None:
    [security] = stacks["compute"].find_resources("AWS::Glue::SecurityConfiguration").values()
    folder = f"/aws-glue/jobs/{security['Properties']['Name']}-role"
    groups = log_groups(stacks)

    assert set(jobs(stacks)) == set(JOBS)
    for each in jobs(stacks).values():
        role = each["Role"]["Fn::GetAtt"][0]
        assert {f"{folder}/<{role}>/{stream}" for stream in ("output", "error")} <= groups.keys()


def test_what_jobs_leave_is_encrypted(stacks: Stacks) -> None:
    [(id, security)] = stacks["compute"].find_resources("AWS::Glue::SecurityConfiguration").items()
    settings = security["Properties"]["EncryptionConfiguration"]

    assert settings["CloudWatchEncryption"]["CloudWatchEncryptionMode"] == "SSE-KMS"
    assert [each["S3EncryptionMode"] for each in settings["S3Encryptions"]] == ["SSE-KMS"]
    assert {str(each["SecurityConfiguration"]) for each in jobs(stacks).values()} == {
        str({"Ref": id})
    }


def test_a_job_is_watched_while_it_runs_and_can_be_looked_at_later(stacks: Stacks) -> None:
    for name, each in jobs(stacks).items():
        arguments = each["DefaultArguments"]
        assert arguments["--enable-job-insights"] == "true"
        assert arguments["--enable-observability-metrics"] == "true"
        assert "--enable-metrics" in arguments
        assert str(arguments["--spark-event-logs-path"]).endswith(f"/spark-events/{name}/']]}}")


def test_every_resource_that_takes_tags_has_those_of_the_environment(stacks: Stacks) -> None:
    for template in stacks.values():
        for each in template.to_json()["Resources"].values():
            tags = each.get("Properties", {}).get("Tags")
            if tags:
                keys = set(tags) if isinstance(tags, dict) else {tag["Key"] for tag in tags}
                assert {"environment", "project", "team"} <= keys
