"""Rules that every state machine keeps, read from its definition alone."""

import hashlib
import json
import re
from pathlib import Path

import cfnlint
import jsonschema
import pytest

import lakekit.errors
from cdk.constructs.definitions import TIME_OUT_TOKENS, TOKENS
from lakekit.config.workers import Workers
from tests.state_machines.definitions import (
    DEFINITIONS,
    ROOT,
    TOKEN,
    Json,
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
# What every task retries, by what it calls. A function that ran out of time or memory is
# Lambda.Unknown, Sandbox.Timedout or Runtime…, by its runtime. AWSGlueException is what has no name
# of its own, such as some throttling.
RETRIED = {
    "Function": {
        "StorageUnavailableError",
        "Lambda.AWSLambdaException",
        "Lambda.ClientExecutionTimeoutException",
        "Lambda.SdkClientException",
        "Lambda.ServiceException",
        "Lambda.TooManyRequestsException",
        "Lambda.Unknown",
        "Runtime.ExitError",
        "Runtime.OutOfMemory",
        "Sandbox.Timedout",
        "States.Timeout",
    },
    "glue": {
        "Glue.AWSGlueException",
        "Glue.ConcurrentRunsExceededException",
        "Glue.InternalServiceException",
        "Glue.OperationTimeoutException",
        "Glue.ResourceNumberLimitExceededException",
        "Glue.SdkClientException",
        "Glue.ThrottlingException",
    },
    "sns": {"SNS.InternalErrorException", "SNS.SdkClientException", "SNS.ThrottledException"},
    "states": {
        "StepFunctions.SdkClientException",
        "StepFunctions.ServiceUnavailableException",
        "StepFunctions.ThrottlingException",
    },
}
# Of a source, which one step calls.
OF_SOURCES = {"SourceThrottledError", "SourceUnavailableError"}
AWS_ERRORS = {error for each in RETRIED.values() for error in each if "." in error}


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
    of_states = {"States.ALL", "States.TaskFailed"}
    assert set(named_errors(load(path))) - ours - AWS_ERRORS - of_states == set()


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
            first = ["JobDied"] if name in jobs(definition) else []
            assert [rule["Next"] for rule in state["Catch"]] == [*first, after], name
    assert top["RecordFailure"]["Next"] == "NotifyFailure"
    assert top["RecordFailure"]["Catch"][0]["Next"] == "NotifyFailure"
    assert top["NotifyFailure"]["Next"] == top["NotifyFailure"]["Catch"][0]["Next"] == "Failed"
    assert top["Failed"]["Type"] == "Fail"


@each
def test_every_task_retries_all_that_may_pass_by_itself(path: Path) -> None:
    for name, task in tasks(load(path)).items():
        errors = {error for rule in task["Retry"] for error in rule["ErrorEquals"]}
        assert errors - OF_SOURCES == RETRIED[service(task)], name
        assert bool(errors & OF_SOURCES) == (name == "ExtractPages"), name


def service(task: Json) -> str:
    """What a task calls: one of our functions, or a service of AWS."""
    resource = str(task["Resource"])
    return "Function" if resource.endswith("Function}") else resource.split(":")[5]


@each
def test_no_retry_goes_on_for_ever(path: Path) -> None:
    for name, state in states(load(path)).items():
        for rule in state.get("Retry", []):
            assert 1 <= rule["MaxAttempts"] <= 6, name


# What may lead back: pages, of which the call budget allows so many; and a job that was lost.
LEADS_BACK = {"AllPagesLanded", "OnceMore"}


@each
def test_nothing_leads_back_but_what_counts_how_often(path: Path) -> None:
    for machine in machines(load(path)):
        known = {name: successors(state) for name, state in machine["States"].items()}
        forward = {name: to for name, to in known.items() if name not in LEADS_BACK}
        while ends := [name for name, to in forward.items() if not to & set(forward)]:
            for name in ends:
                del forward[name]
        assert forward == {}


def jobs(definition: Json) -> dict[str, Json]:
    return {name: each for name, each in tasks(definition).items() if service(each) == "glue"}


@each
def test_a_job_that_glue_lost_is_started_once_more_and_only_once(path: Path) -> None:
    definition = load(path)
    died, once_more = (definition["States"][name] for name in ("JobDied", "OnceMore"))
    [rule] = died["Choices"]
    again = rule["And"][0]
    [name] = re.findall(r"\w+$", again["Variable"])

    assert rule["Next"] == "OnceMore"
    assert once_more.get("Result", once_more.get("Parameters"))[name] is True
    assert again in (
        {"Variable": again["Variable"], "BooleanEquals": False},
        {"Variable": again["Variable"], "IsPresent": False},
    )


def cause(state: str, message: str) -> str:
    run = {"Attempt": 0, "ErrorMessage": message, "JobRunState": state, "Timeout": 60}
    return json.dumps(run, separators=(",", ":"))


@each
@pytest.mark.parametrize(
    ("text", "once_more"),
    [
        (cause("FAILED", "Command failed with exit code 1"), True),
        (cause("ERROR", "Internal service error"), True),
        (cause("FAILED", "TooManyDeletedError: 1 of 2 tables failed: a: …"), False),
        (cause("FAILED", "Error Category: UNCLASSIFIED_ERROR; RuntimeError: 1 of 1 …"), False),
        (cause("TIMEOUT", "Job run exceeded its 60 minutes"), False),
        (cause("STOPPED", ""), False),
        ("Concurrent runs exceeded for merge_scd2", False),
    ],
)
def test_a_job_that_names_an_error_or_was_stopped_is_not_started_again(
    path: Path, text: str, once_more: bool
) -> None:
    [rule] = load(path)["States"]["JobDied"]["Choices"]

    assert all(holds(each, text) for each in rule["And"][1:]) == once_more


def holds(rule: Json, text: str) -> bool:
    if "Or" in rule:
        return any(holds(each, text) for each in rule["Or"])
    if "Not" in rule:
        return not holds(rule["Not"], text)
    assert rule["Variable"].endswith("failure.Cause")
    pattern = ".*".join(re.escape(part) for part in rule["StringMatches"].split("*"))
    return re.fullmatch(pattern, text, re.DOTALL) is not None


@each
def test_glue_jobs_get_the_arguments_of_every_job(path: Path) -> None:
    for job in jobs(load(path)).values():
        assert job["Resource"] == "arn:aws:states:::glue:startJobRun.sync"
        names = {name.removesuffix(".$") for name in job["Parameters"]["Arguments"]}
        assert names == {"--run_id", "--source", "--landing_bucket", "--database", "--warehouse"}


def test_the_merge_is_started_with_the_workers_of_its_plan() -> None:
    definition = load(ROOT / "state_machines/load_source.asl.json")
    given = {
        name: jobs(definition)[name]["Parameters"].keys() - {"JobName", "Arguments"}
        for name in jobs(definition)
    }

    merge = jobs(definition)["MergeScd2"]["Parameters"]
    assert given.pop("CreateTables") == set()
    assert given == {"MergeScd2": {"NumberOfWorkers.$", "WorkerType.$", "ExecutionClass.$"}}
    fields = {merge[name].removeprefix("$.plan.workers.") for name in given["MergeScd2"]}
    assert fields == set(Workers.model_fields)
