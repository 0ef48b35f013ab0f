"""SQS: a redrive brings messages back from dead letters to the queue that they come from.

Moto 5.2.5 knows no StartMessageMoveTask.
"""

import json
import uuid
from collections.abc import Callable
from typing import Any

from lakekit.sandbox.http import AwsError

Client = Callable[[str], Any]
AT_ONCE = 10


def move_messages(client: Client, request: dict[str, Any]) -> dict[str, str]:
    """Move all messages of a queue, before the answer; AWS does it after."""
    sqs = client("sqs")
    source = _url(sqs, request["SourceArn"])
    given = request.get("DestinationArn")
    target = _url(sqs, given) if given else _origin(sqs, request["SourceArn"])
    while messages := sqs.receive_message(
        QueueUrl=source, MaxNumberOfMessages=AT_ONCE, MessageAttributeNames=["All"]
    ).get("Messages"):
        for each in messages:
            attributes = each.get("MessageAttributes", {})
            sqs.send_message(
                QueueUrl=target, MessageBody=each["Body"], MessageAttributes=attributes
            )
            sqs.delete_message(QueueUrl=source, ReceiptHandle=each["ReceiptHandle"])
    return {"TaskHandle": str(uuid.uuid4())}


def _url(sqs: Any, arn: str) -> str:
    url: str = sqs.get_queue_url(QueueName=arn.rpartition(":")[2])["QueueUrl"]
    return url


def _origin(sqs: Any, dead: str) -> str:
    """Return the queue whose messages go to these dead letters."""
    for url in sqs.list_queues().get("QueueUrls", []):
        found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["RedrivePolicy"])
        policy = json.loads(found.get("Attributes", {}).get("RedrivePolicy", "{}"))
        if policy.get("deadLetterTargetArn") == dead:
            return str(url)
    raise AwsError(
        "InvalidParameterValue", "Source queue must be configured as a dead-letter queue"
    )
