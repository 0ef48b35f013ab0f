"""ShareTable: tables that were loaded, as EventBridge hands CompleteRun's events to a queue."""

from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from lakekit.aws.readers.share import share
from lakekit.aws.step import logged_step


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    return dict(process_partial_response(event, _share, processor, context))


def _share(record: SQSRecord) -> None:
    share(record.json_body)
