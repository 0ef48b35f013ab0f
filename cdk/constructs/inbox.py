"""Files that others drop: S3 event, queue with its dead-letter queue, RouteFile."""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from lakekit.config.environment import Environment


class Inbox(Construct):
    """Brings each new object under `inbox/` to the function, which takes so many seconds at most.

    The rights to the queue are with the function's role.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        landing: s3.IBucket,
        function: lambda_.IFunction,
        seconds: int,
    ) -> None:
        super().__init__(scope, id)
        self.dead_letters = queue(self, environment, "inbox_dead", days=14)
        self.queue = queue(
            self,
            environment,
            "inbox",
            days=4,
            dead=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=5),
            seconds=seconds,
        )
        events.Rule(
            self,
            "rule",
            rule_name=environment.name("inbox"),
            event_pattern=events.EventPattern(
                source=["aws.s3"],
                detail_type=["Object Created"],
                detail={
                    "bucket": {"name": [landing.bucket_name]},
                    "object": {"key": [{"prefix": "inbox/"}]},
                },
            ),
            targets=[targets.SqsQueue(self.queue, dead_letter_queue=self.dead_letters)],
        )
        lambda_.EventSourceMapping(
            self,
            "mapping",
            target=function,
            event_source_arn=self.queue.queue_arn,
            batch_size=10,
            report_batch_item_failures=True,
        )


def queue(
    scope: Construct,
    environment: Environment,
    name: str,
    *,
    days: int,
    dead: sqs.DeadLetterQueue | None = None,
    seconds: int | None = None,
) -> sqs.Queue:
    """Return an encrypted queue.

    With the seconds of its function, a message stays hidden six times as long, as AWS advises:
    https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
    """
    return sqs.Queue(
        scope,
        name,
        queue_name=environment.name(name),
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=Duration.days(days),
        visibility_timeout=Duration.seconds(6 * seconds) if seconds else None,
        dead_letter_queue=dead,
    )
