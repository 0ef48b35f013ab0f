"""Event source mappings: SQS to Lambda with partial batch failures.

Moto 5.2.5 hands a batch to its own Lambda, which needs Docker, and knows no `batchItemFailures`.
"""

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lakekit.sandbox.functions import Answer

logger = logging.getLogger(__name__)
POLL_SECONDS = 1.0


@dataclass(frozen=True)
class Mapping:
    """From a queue to a function."""

    queue_arn: str
    function: str
    batch_size: int
    partial: bool

    @classmethod
    def from_request(cls, request: dict[str, Any]) -> "Mapping":
        """Read a CreateEventSourceMapping."""
        return cls(
            queue_arn=request["EventSourceArn"],
            function=request["FunctionName"],
            batch_size=request.get("BatchSize", 10),
            partial="ReportBatchItemFailures" in request.get("FunctionResponseTypes", []),
        )


class QueuePoller:
    """Polls the queues of all mappings until it is stopped."""

    def __init__(self, invoke: Callable[[str, Any], Answer], client: Callable[[str], Any],
                 *, wait_scale: float) -> None:  # fmt: skip
        self._invoke = invoke
        self._client = client
        self._wait_scale = wait_scale
        self._stopped = threading.Event()

    def add(self, mapping: Mapping) -> None:
        """Begin to poll a queue."""
        threading.Thread(target=self._poll, args=(mapping,), daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _poll(self, mapping: Mapping) -> None:
        sqs = self._client("sqs")
        url = sqs.get_queue_url(QueueName=mapping.queue_arn.rpartition(":")[2])["QueueUrl"]
        while not self._stopped.wait(POLL_SECONDS):
            try:
                received = sqs.receive_message(
                    QueueUrl=url,
                    MaxNumberOfMessages=mapping.batch_size,
                    MessageSystemAttributeNames=["All"],
                    MessageAttributeNames=["All"],
                )
                if messages := received.get("Messages", []):
                    self._handle(mapping, sqs, url, messages)
            except Exception:
                if not self._stopped.is_set():
                    logger.exception("polling %s", mapping.queue_arn)

    def _handle(self, mapping: Mapping, sqs: Any, url: str, messages: list[Any]) -> None:
        answer = self._invoke(mapping.function, to_event(mapping, messages))
        failed = failed_ids(answer, messages, partial=mapping.partial)
        for message in messages:
            receipt = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"]}
            if message["MessageId"] not in failed:
                sqs.delete_message(**receipt)
            elif self._wait_scale != 1:
                name = "VisibilityTimeout"
                found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])
                hidden = int(int(found["Attributes"][name]) * self._wait_scale)
                sqs.change_message_visibility(**receipt, VisibilityTimeout=hidden)


def to_event(mapping: Mapping, messages: list[Any]) -> dict[str, Any]:
    """Return the event that Lambda makes of a batch."""
    return {
        "Records": [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message.get("Attributes", {}),
                "messageAttributes": message.get("MessageAttributes", {}),
                "md5OfBody": message["MD5OfBody"],
                "eventSource": "aws:sqs",
                "eventSourceARN": mapping.queue_arn,
                "awsRegion": mapping.queue_arn.split(":")[3],
            }
            for message in messages
        ]
    }


def failed_ids(answer: Answer, messages: list[Any], *, partial: bool) -> set[str]:
    """Return the messages that stay in the queue: all of them if the answer is malformed."""
    everything = {message["MessageId"] for message in messages}
    if answer.failed:
        return everything
    if not partial:
        return set()
    result = json.loads(answer.payload) or {}
    failed = {each.get("itemIdentifier") for each in result.get("batchItemFailures") or []}
    return failed if failed <= everything else everything
