"""Rules that every state machine keeps, read from its definition alone."""

import hashlib
import json
import re
from pathlib import Path

import cfnlint
import jsonschema

import lakekit.errors
from cdk.constructs.definitions import TIME_OUT_TOKENS, TOKENS
from tests.state_machines.definitions import (
    DEFINITIONS,
    ROOT,
    TOKEN,
    each,
    load,
    machines,
    named_errors,
    states,
    strings,
    successors,
    tasks,
)

SCHEMA = "data/schemas/other/step_functions/statemachine.json"
AWS_ERRORS = {
    "Glue.ConcurrentRunsExceededException",
    "Glue.InternalServiceException",
    "Glue.OperationTimeoutException",
    "Glue.ResourceNumberLimitExceededException",
    "Glue.SdkClientException",
    "Glue.ThrottlingException",
    "Lambda.AWSLambdaException",
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.SdkClientException",
    "Lambda.ServiceException",
    "Lambda.TooManyRequestsException",
    "Lambda.Unknown",
    "Runtime.ExitError",
    "Runtime.OutOfMemory",
    "SNS.InternalErrorException",
    "SNS.SdkClientException",
    "SNS.ThrottledException",
    "Sandbox.Timedout",
    "States.Timeout",
    "StepFunctions.SdkClientException",
    "StepFunctions.ServiceUnavailableException",
    "StepFunctions.ThrottlingException",
}


def test_there_are_the_two_machines() -> None:
    assert {path.name for path in DEFINITIONS} == {f"{name}.asl.json" for name in TOKENS}


@each
def test_conforms_to_the_published_schema(path: Path) -> None:
    schema = json.loads((Path(cfnlint.__file__).parent / SCHEMA).read_text())
    faults = jsonschema.Draft7Validator(schema).iter_errors(load(path))
    assert [f"{list(fault.path)}: {fault.message}" for fault in faults] == []


@each
def test_every_state_is_reachable_and_every_next_exists(path: Path) -> None:
    for machine in machines(load(path)):
        seen: set[str] = set()
        front = {machine["StartAt"]}
        while front:
            seen |= front
            front = {to for name in front for to in successors(machine["States"][name])} - seen
        assert seen == set(machine["States"])


@each
def test_state_names_are_unique_across_maps(path: Path) -> None:
    names = [name for machine in machines(load(path)) for name in machine["States"]]
    assert len(names) == len(set(names))


@each
def test_tokens_are_whole_strings(path: Path) -> None:
    partial = [text for text in strings(load(path)) if "${" in text and not TOKEN.fullmatch(text)]
    assert partial == []


@each
def test_tokens_equal_what_cdk_supplies(path: Path) -> None:
    supplied = TOKENS[path.name.removesuffix(".asl.json")]
    assert set(TOKEN.findall(path.read_text())) == {*supplied, *TIME_OUT_TOKENS}


@each
def test_a_time_out_becomes_a_number(path: Path) -> None:
    found = [task["TimeoutSeconds"] for task in tasks(load(path)).values()]
    found.append(load(path)["TimeoutSeconds"])
    assert [type(seconds) for seconds in found] == [int] * len(found)


@each
def test_every_retried_error_exists_and_is_transient(path: Path) -> None:
    for name, task in tasks(load(path)).items():
        for error in (error for rule in task["Retry"] for error in rule["ErrorEquals"]):
            known = getattr(lakekit.errors, error, None)
            ours = known is not None and issubclass(known, lakekit.errors.TransientError)
            assert ours or error in AWS_ERRORS, f"{name} retries {error}"


@each
def test_every_error_that_is_named_exists(path: Path) -> None:
    ours = {name for name in vars(lakekit.errors) if name.endswith("Error")}
    assert set(named_errors(load(path))) - ours - AWS_ERRORS - {"States.ALL"} == set()


def test_an_error_that_is_unknown_would_be_found() -> None:
    definition = load(DEFINITIONS[0])
    found = {"Error": "A", "Retry": [{"ErrorEquals": ["B"]}], "Catch": [{"ErrorEquals": ["C"]}]}
    assert {"A", "B", "C"} <= set(named_errors(definition | {"More": found}))


def test_maintenance_has_a_name_of_its_own_within_the_80_characters_of_a_name() -> None:
    start = tasks(load(ROOT / "state_machines/load_source.asl.json"))["StartMaintenance"]
    made = re.fullmatch(
        r"States\.Format\('(.+)\{\}', States\.Hash\(\$\$\.Execution\.Name, '(.+)'\)\)",
        start["Parameters"]["Name.$"],
    )
    assert made
    digest = hashlib.new(made[2].replace("-", ""), b"x" * 80).hexdigest()
    assert made[1].startswith("maintain-")
    assert len(made[1] + digest) <= 80


@each
def test_every_task_has_a_timeout_and_retries_with_full_jitter(path: Path) -> None:
    for name, task in tasks(load(path)).items():
        assert task["TimeoutSeconds"] > 0, name
        assert task["Retry"], name
        for rule in task["Retry"]:
            assert rule["JitterStrategy"] == "FULL", name
            assert {"IntervalSeconds", "MaxAttempts", "BackoffRate", "MaxDelaySeconds"} <= set(rule)


@each
def test_no_error_is_retried_by_two_rules_of_a_task(path: Path) -> None:
    for name, task in tasks(load(path)).items():
        errors = [error for rule in task["Retry"] for error in rule["ErrorEquals"]]
        assert len(errors) == len(set(errors)), name


@each
def test_every_failure_is_caught_and_keeps_the_input(path: Path) -> None:
    for name, state in states(load(path)).items():
        if state["Type"] not in ("Task", "Map") or name == "ValidateLanding":
            continue  # what ValidateLanding raises is caught around its map
        last = state["Catch"][-1]
        assert last["ErrorEquals"] == ["States.ALL"], name
        assert last["ResultPath"].startswith("$."), name


# What goes on after a failure: CompleteRun says which tables a failed job has merged.
# A run that was not started is started by others: maintenance by the next load, a load by the
# sweeper.
AFTER = {
    "CreateTables": "CompleteRun",
    "MergeScd2": "CompleteRun",
    "StartMaintenance": "Outcome",
    "MaintainTables": "StartPending",
    "StartPending": "JobFailed",
}


@each
def test_a_failed_step_is_recorded_then_notified_then_fails(path: Path) -> None:
    definition = load(path)
    top = definition["States"]
    recorded = ("RecordFailure", "NotifyFailure")
    for name, state in top.items():
        if "Catch" in state and name not in recorded:
            after = AFTER.get(name, "RecordFailure")
            assert [rule["Next"] for rule in state["Catch"]] == [after], name
    assert top["RecordFailure"]["Next"] == "NotifyFailure"
    assert top["RecordFailure"]["Catch"][0]["Next"] == "NotifyFailure"
    assert top["NotifyFailure"]["Next"] == top["NotifyFailure"]["Catch"][0]["Next"] == "Failed"
    assert top["Failed"]["Type"] == "Fail"


@each
def test_no_retry_goes_on_for_ever(path: Path) -> None:
    for name, task in tasks(load(path)).items():
        for rule in task["Retry"]:
            assert rule["MaxAttempts"] <= 6, name


@each
def test_glue_jobs_get_the_arguments_of_every_job(path: Path) -> None:
    jobs = [t for t in tasks(load(path)).values() if "glue:" in t["Resource"]]
    for job in jobs:
        assert job["Resource"] == "arn:aws:states:::glue:startJobRun.sync"
        names = {name.removesuffix(".$") for name in job["Parameters"]["Arguments"]}
        assert names == {"--run_id", "--source", "--landing_bucket", "--database", "--warehouse"}
