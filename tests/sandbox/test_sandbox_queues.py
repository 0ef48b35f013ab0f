"""Queues feed functions: partial batch failures, and the dead-letter queue."""

import json

import pytest

from lakekit.sandbox import Sandbox
from lakekit.sandbox.bridges.queue_polling import failed_ids
from lakekit.sandbox.functions import Answer
from tests.worlds import until


@pytest.fixture
def inbox(sandbox: Sandbox):
    """A queue that feeds a stand-in, with a dead-letter queue behind it."""
    sqs = sandbox.client("sqs")

    def queue(name: str, **attributes: str) -> tuple[str, str]:
        url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        return url, found["Attributes"]["QueueArn"]

    dead, dead_arn = queue("standins_dead")
    policy = json.dumps({"deadLetterTargetArn": dead_arn, "maxReceiveCount": 2})
    url, arn = queue("standins", RedrivePolicy=policy, VisibilityTimeout="60")
    client = sandbox.client("lambda")
    role = sandbox.client("iam").list_roles()["Roles"][0]["Arn"]
    client.create_function(
        FunctionName="fail_marked", Handler="tests.sandbox.stand_ins.fail_marked", Role=role,
        Runtime="python3.11", Code={"ZipFile": b"PK\x05\x06" + bytes(18)},
    )  # fmt: skip
    client.create_event_source_mapping(
        EventSourceArn=arn, FunctionName="fail_marked", BatchSize=10,
        FunctionResponseTypes=["ReportBatchItemFailures"],
    )  # fmt: skip
    return url, dead


def test_failed_messages_of_a_batch_come_back_and_end_in_the_dead_letter_queue(sandbox, inbox):
    sqs, (url, dead) = sandbox.client("sqs"), inbox
    sqs.send_message_batch(
        QueueUrl=url,
        Entries=[{"Id": body, "MessageBody": body} for body in ("good", "bad", "fine")],
    )

    found = until(lambda: sqs.receive_message(QueueUrl=dead).get("Messages"))

    assert [message["Body"] for message in found] == ["bad"]
    counts = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    left = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=counts)["Attributes"]
    assert set(left.values()) == {"0"}


MESSAGES = [{"MessageId": "a"}, {"MessageId": "b"}]


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (Answer("null"), set()),
        (Answer('{"batchItemFailures": []}'), set()),
        (Answer('{"batchItemFailures": [{"itemIdentifier": "b"}]}'), {"b"}),
        (Answer('{"batchItemFailures": [{"itemIdentifier": "unknown"}]}'), {"a", "b"}),
        (Answer('{"batchItemFailures": [{"itemIdentifier": null}]}'), {"a", "b"}),
        (Answer("{}", failed=True), {"a", "b"}),
    ],
)
def test_an_answer_that_makes_no_sense_keeps_the_whole_batch(answer, failed):
    assert failed_ids(answer, MESSAGES, partial=True) == failed
