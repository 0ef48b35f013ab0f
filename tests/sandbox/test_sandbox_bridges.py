"""What moto lacks and the sandbox adds.

A test named `moto_still_…` fails once moto has the feature: then its bridge can go.
"""

import json
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from tests.worlds import until

ROLE = "arn:aws:iam::123456789012:role/r"
SYNC = {
    "StartAt": "Job",
    "States": {
        "Job": {
            "Type": "Task",
            "Resource": "arn:aws:states:::glue:startJobRun.sync",
            "Parameters": {"JobName": "j"},
            "End": True,
        }
    },
}
PASSED_ON = {
    "StartAt": "Failed",
    "States": {"Failed": {"Type": "Fail", "ErrorPath": "$.error", "CausePath": "$.cause"}},
}
GIVEN = {"error": "States.TaskFailed", "cause": "because"}
CREDENTIALS = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "eu-west-1"}


@pytest.fixture
def moto():
    """Moto alone, without the sandbox."""
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        yield lambda service: boto3.client(service, **CREDENTIALS)


def execute(client: Any, name: str, definition: Any, given: Any) -> Any:
    arn = client.create_state_machine(name=name, definition=json.dumps(definition), roleArn=ROLE)[
        "stateMachineArn"
    ]
    execution = client.start_execution(stateMachineArn=arn, name=name, input=json.dumps(given))[
        "executionArn"
    ]

    def ended() -> Any:
        found = client.describe_execution(executionArn=execution)
        return found if found["status"] != "RUNNING" else None

    return until(ended)


def test_moto_still_fails_every_glue_job_that_it_waits_for(moto):
    moto("glue").create_job(Name="j", Role=ROLE, Command={"Name": "glueetl"})

    assert execute(moto("stepfunctions"), "m", SYNC, {})["status"] == "FAILED"


def test_moto_still_stumbles_over_a_fail_that_passes_an_error_of_aws_on(moto):
    ended = execute(moto("stepfunctions"), "m", PASSED_ON, GIVEN)

    assert "MUST NOT begin with" in ended["cause"]


def test_a_fail_passes_an_error_of_aws_on(sandbox):
    ended = execute(sandbox.client("stepfunctions"), "passed_on", PASSED_ON, GIVEN)

    assert (ended["status"], ended["error"], ended["cause"]) == ("FAILED", *GIVEN.values())


def folders_after_a_delete(client: Any, name: str) -> list[str]:
    """Return the folders of a bucket with versions, of which one was emptied."""
    place: Any = {"LocationConstraint": "eu-west-1"}
    client.create_bucket(Bucket=name, CreateBucketConfiguration=place)
    client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    for key in ("a/b/1", "a/c/1"):
        client.put_object(Bucket=name, Key=key, Body=b"")
    client.delete_object(Bucket=name, Key="a/b/1")
    found = client.list_objects_v2(Bucket=name, Prefix="a/", Delimiter="/")
    return [each["Prefix"] for each in found["CommonPrefixes"]]


def test_moto_still_lists_folders_whose_objects_are_all_deleted(moto):
    assert folders_after_a_delete(moto("s3"), "emptied") == ["a/b/", "a/c/"]


def test_a_folder_whose_objects_are_all_deleted_is_none(sandbox):
    assert folders_after_a_delete(sandbox.client("s3"), "emptied") == ["a/c/"]


def starts(client: Any, name: str) -> Any:
    """Execute a machine that starts another one."""
    end = {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}
    other = client.create_state_machine(
        name=f"{name}_other", definition=json.dumps(end), roleArn=ROLE
    )
    start = {
        "Type": "Task",
        "Resource": "arn:aws:states:::states:startExecution",
        "Parameters": {
            "StateMachineArn": other["stateMachineArn"], "Name": "n", "Input": {"a.$": "$.error"},
        },
        "End": True,
    }  # fmt: skip
    ended = execute(client, name, {"StartAt": "Start", "States": {"Start": start}}, GIVEN)
    return ended, other["stateMachineArn"]


def test_moto_still_does_not_start_an_execution_from_a_state(moto):
    ended, _ = starts(moto("stepfunctions"), "m")

    assert (ended["status"], "StateMachineArn" in ended["cause"]) == ("FAILED", True)


def test_a_state_starts_an_execution(sandbox):
    machines = sandbox.client("stepfunctions")
    ended, other = starts(machines, "starts")

    output = json.loads(ended["output"])
    given = machines.describe_execution(executionArn=output["ExecutionArn"])
    assert (given["name"], json.loads(given["input"])) == ("n", {"a": GIVEN["error"]})
    assert given["stateMachineArn"] == other
    assert isinstance(output["StartDate"], int)


def update_twice(glue: Any, database: str, name: str) -> Any:
    table = {"Name": name, "Parameters": {"n": "0"}}
    glue.create_table(DatabaseName=database, TableInput=table)
    read = glue.get_table(DatabaseName=database, Name=name)["Table"]["VersionId"]
    for n in ("1", "2"):
        glue.update_table(
            DatabaseName=database,
            TableInput={**table, "Parameters": {"n": n}},
            VersionId=read,
            SkipArchive=True,
        )


def test_moto_still_lets_a_stale_update_of_a_table_win(moto):
    glue = moto("glue")
    glue.create_database(DatabaseInput={"Name": "d"})

    update_twice(glue, "d", "t")


def test_a_stale_update_of_a_table_is_refused(sandbox):
    glue, database = sandbox.client("glue"), sandbox.names["database"]

    with pytest.raises(ClientError, match="ConcurrentModificationException"):
        update_twice(glue, database, "stale")

    table = glue.get_table(DatabaseName=database, Name="stale")["Table"]
    assert table["Parameters"] == {"n": "1"}


@pytest.mark.parametrize(
    "arn",
    [
        "arn:aws:lambda:eu-west-1:123456789012:function:f",
        "arn:aws:states:eu-west-1:123456789012:stateMachine:m",
    ],
)
def test_moto_still_delivers_no_event_to_this_target(moto, arn):
    events = moto("events")
    events.put_rule(Name="r", EventPattern=json.dumps({"source": ["s"]}))
    events.put_targets(Rule="r", Targets=[{"Id": "1", "Arn": arn}])

    with pytest.raises(NotImplementedError):
        events.put_events(Entries=[{"Source": "s", "DetailType": "d", "Detail": "{}"}])


def object_event(client: Callable[[str], Any], name: str) -> dict[str, Any]:
    """Return what a queue gets when an object is written."""
    s3, sqs, events = client("s3"), client("sqs"), client("events")
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    s3.put_bucket_notification_configuration(
        Bucket=name, NotificationConfiguration={"EventBridgeConfiguration": {}}
    )
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    pattern = {"source": ["aws.s3"], "detail": {"bucket": {"name": [name]}}}
    events.put_rule(Name=name, EventPattern=json.dumps(pattern))
    events.put_targets(Rule=name, Targets=[{"Id": "1", "Arn": found["Attributes"]["QueueArn"]}])
    s3.put_object(Bucket=name, Key="k", Body=b"x")
    [message] = until(lambda: sqs.receive_message(QueueUrl=url).get("Messages"))
    event: dict[str, Any] = json.loads(message["Body"])
    return event


def test_moto_still_words_the_event_of_an_object_in_its_own_way(moto):
    event = object_event(moto, "own-way")

    assert "eTag" in event["detail"]["object"]


def test_the_event_of_an_object_reads_as_on_aws(sandbox):
    event = object_event(sandbox.client, "as-on-aws")

    assert event["detail-type"] == "Object Created"
    assert event["detail"]["object"]["etag"] == "9dd4e461268c8034f5c8564e155c67a6"
    assert event["time"].endswith("Z")


def test_an_event_starts_a_state_machine_with_the_input_of_its_rule(sandbox):
    machines, events = sandbox.client("stepfunctions"), sandbox.client("events")
    definition = {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}
    arn = machines.create_state_machine(
        name="by_event", definition=json.dumps(definition), roleArn=ROLE
    )["stateMachineArn"]
    events.put_rule(Name="starts", EventPattern=json.dumps({"source": ["start"]}))
    target = {"Id": "1", "Arn": arn, "Input": '{"source": "s"}'}
    events.put_targets(Rule="starts", Targets=[target])

    events.put_events(Entries=[{"Source": "start", "DetailType": "d", "Detail": "{}"}])

    [found] = until(lambda: machines.list_executions(stateMachineArn=arn)["executions"])
    given = machines.describe_execution(executionArn=found["executionArn"])["input"]
    assert json.loads(given) == {"source": "s"}


def test_moto_still_brings_no_dead_letters_back(moto):
    with pytest.raises(NotImplementedError):
        moto("sqs").start_message_move_task(SourceArn="arn:aws:sqs:eu-west-1:123456789012:q")


def test_dead_letters_of_no_queue_cannot_be_brought_back(sandbox):
    sqs = sandbox.client("sqs")
    url = sqs.create_queue(QueueName="of_nobody")["QueueUrl"]
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])

    with pytest.raises(ClientError, match="must be configured as a dead-letter queue"):
        sqs.start_message_move_task(SourceArn=found["Attributes"]["QueueArn"])


def messages_of_a_schedule(client: Callable[[str], Any], name: str) -> list[Any]:
    """Return what an event brings to the queue of a rule that has a schedule and no pattern."""
    sqs, events = client("sqs"), client("events")
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    events.put_rule(Name=name, ScheduleExpression="rate(15 minutes)")
    events.put_targets(Rule=name, Targets=[{"Id": "1", "Arn": found["Attributes"]["QueueArn"]}])
    events.put_events(Entries=[{"Source": "s", "DetailType": "d", "Detail": "{}"}])
    return list(sqs.receive_message(QueueUrl=url).get("Messages", []))


def test_moto_still_takes_a_schedule_for_a_rule_that_every_event_matches(moto):
    assert len(messages_of_a_schedule(moto, "scheduled")) == 1


def test_no_event_matches_a_schedule(sandbox):
    assert messages_of_a_schedule(sandbox.client, "scheduled") == []
