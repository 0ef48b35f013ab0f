"""EventBridge: rules deliver to SQS, Lambda and Step Functions.

Moto 5.2.5 raises NotImplementedError for Lambda and Step Functions, ignores a target's `Input`
and a rule's state, takes a rule with a schedule for one that every event matches, and gives times
of S3 events as numbers and their `etag` as `eTag`. An execution without a name gets one that is no
text.
"""

import json
import logging
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from moto.events.models import Rule

logger = logging.getLogger(__name__)
Client = Callable[[str], Any]
_moto_send = Rule.send_to_targets


def install(client: Client) -> None:
    """Deliver the events of this process's rules with these clients."""

    def send(rule: Any, original_event: dict[str, Any], transform_input: bool = True) -> None:
        if rule.state != "ENABLED" or rule.scheduled_expression:
            return
        if not rule.event_pattern.matches_event(original_event):
            return
        others = []
        for target in rule.targets:
            if target["Arn"].split(":")[2] not in DELIVERIES:
                others.append(target)
                continue
            try:
                deliver(client, target, to_python(original_event))
            except Exception:
                logger.exception("event of rule %s not delivered", rule.name)
        if others:
            targets, rule.targets = rule.targets, others
            try:
                _moto_send(rule, original_event, transform_input)
            finally:
                rule.targets = targets

    Rule.send_to_targets = send


def to_python(event: dict[str, Any]) -> dict[str, Any]:
    """Return the event as EventBridge writes it."""
    sent = {key: value for key, value in event.items() if key != "ingestion-time"}
    if isinstance(time := event.get("time"), int | float):
        sent["time"] = datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    item = event["detail"].get("object") if event.get("source") == "aws.s3" else None
    if item and "eTag" in item:
        renamed = {("etag" if key == "eTag" else key): value for key, value in item.items()}
        sent["detail"] = {**event["detail"], "object": renamed}
    return sent


def deliver(client: Client, target: dict[str, Any], event: dict[str, Any]) -> None:
    """Send one event to one target."""
    text = target.get("Input") or json.dumps(event)
    arn = target["Arn"]
    DELIVERIES[arn.split(":")[2]](client, arn, text)


def _to_queue(client: Client, arn: str, text: str) -> None:
    sqs = client("sqs")
    url = sqs.get_queue_url(QueueName=arn.rpartition(":")[2])["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody=text)


def _to_function(client: Client, arn: str, text: str) -> None:
    client("lambda").invoke(FunctionName=arn, InvocationType="Event", Payload=text.encode())


def _to_state_machine(client: Client, arn: str, text: str) -> None:
    name = str(uuid.uuid4())
    client("stepfunctions").start_execution(stateMachineArn=arn, name=name, input=text)


DELIVERIES = {"sqs": _to_queue, "lambda": _to_function, "states": _to_state_machine}
