"""RouteFile: dropped files, as EventBridge hands S3's events to a queue."""

from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from lakekit.aws.inbox import route
from lakekit.aws.step import logged_step


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    return dict(process_partial_response(event, _route, processor, context))


def _route(record: SQSRecord) -> None:
    route(record.json_body)
