"""What makes good for lost events: a function that looks every quarter of an hour."""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from lakekit.config.environment import Environment


class Sweeper(Construct):
    """Calls the function `sweep`."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        function: lambda_.IFunction,
        dead_letters: sqs.IQueue,
    ) -> None:
        super().__init__(scope, id)
        events.Rule(
            self,
            "rule",
            rule_name=environment.name("sweep"),
            schedule=events.Schedule.rate(Duration.minutes(15)),
            targets=[
                targets.LambdaFunction(function, retry_attempts=2, dead_letter_queue=dead_letters)
            ],
        )
