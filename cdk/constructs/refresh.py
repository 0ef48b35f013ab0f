"""QuickSight reads a dataset again after each load of its table: an event, and a state machine.

A function could not: QuickSight has no endpoint in a network.
"""

import hashlib
from collections.abc import Iterable

from aws_cdk import ArnFormat, Duration, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import aws_stepfunctions_tasks as tasks
from constructs import Construct

from cdk.constructs.logs import log_group
from cdk.constructs.roles import service_role
from cdk.constructs.sharing import loaded
from lakekit.config.environment import Environment
from lakekit.config.infrastructure.governance import Refresh

MACHINE = "refresh_datasets"
RULE = "refresh-"
# QuickSight limits a dataset to 32 in 24 hours: then to try again does not help.
BUSY = ["QuickSight.ThrottlingException", "QuickSight.InternalFailureException"]


class DatasetRefreshes(Construct):
    """A rule for each dataset, which starts the state machine that asks QuickSight."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        log_key: kms.IKey,
        dead_letters: sqs.Queue,
    ) -> None:
        super().__init__(scope, id)
        machine = self._machine(environment, log_key)
        role = service_role(self, "events_role", "events")
        machine.grant_start_execution(role)
        dead = self._allow_dead_letters(environment, dead_letters)
        for each in environment.refreshes:
            # A name that stays when others come or go.
            own = hashlib.sha256(f"{each.table}/{each.dataset}".encode()).hexdigest()[:12]
            events.Rule(
                self,
                f"rule_{own}",
                rule_name=environment.name(f"{RULE}{own}"),
                description=f"{each.table} was loaded: QuickSight reads {each.dataset} again",
                event_pattern=loaded(environment, each.table),
                targets=[
                    targets.SfnStateMachine(
                        machine,
                        role=role,
                        dead_letter_queue=dead,
                        input=events.RuleTargetInput.from_object({"dataset": each.dataset}),
                    )
                ],
            )

    def _allow_dead_letters(self, environment: Environment, queue: sqs.Queue) -> sqs.IQueue:
        """Let all rules send to the queue by one statement, as its policy may have twenty."""
        rules = Stack.of(self).format_arn(
            service="events", resource="rule", resource_name=environment.name(f"{RULE}*")
        )
        queue.add_to_resource_policy(
            iam.PolicyStatement(
                sid="RefreshesThatFailed",
                principals=[iam.ServicePrincipal("events.amazonaws.com")],
                actions=["sqs:SendMessage"],
                resources=[queue.queue_arn],
                conditions={"ArnLike": {"aws:SourceArn": rules}},
            )
        )
        # By its ARN, or each rule would add a statement.
        return sqs.Queue.from_queue_arn(self, "dead", queue.queue_arn)

    def _machine(self, environment: Environment, log_key: kms.IKey) -> sfn.StateMachine:
        stack, name = Stack.of(self), environment.name(MACHINE)
        ask = tasks.CallAwsService(
            self,
            "RefreshDataset",
            service="quicksight",
            action="createIngestion",
            parameters={
                "AwsAccountId": stack.account,
                "DataSetId": sfn.JsonPath.string_at("$.dataset"),
                # The same again if it is tried again.
                "IngestionId": sfn.JsonPath.execution_name,
            },
            iam_action="quicksight:CreateIngestion",
            iam_resources=list(_ingestions(stack, environment.refreshes)),
            task_timeout=sfn.Timeout.duration(Duration.minutes(5)),
        )
        ask.add_retry(
            errors=BUSY,
            interval=Duration.seconds(30),
            max_attempts=6,
            backoff_rate=2,
            jitter_strategy=sfn.JitterType.FULL,
        )
        return sfn.StateMachine(
            self,
            MACHINE,
            state_machine_name=name,
            role=service_role(self, "role", "states"),
            definition_body=sfn.DefinitionBody.from_chainable(ask),
            timeout=Duration.hours(2),
            tracing_enabled=True,
            logs=sfn.LogOptions(
                destination=log_group(
                    self,
                    "logs",
                    f"/aws/vendedlogs/states/{name}",
                    environment=environment,
                    key=log_key,
                ),
                level=sfn.LogLevel.ALL,
                include_execution_data=False,
            ),
        )


def _ingestions(stack: Stack, refreshes: Iterable[Refresh]) -> Iterable[str]:
    for dataset in dict.fromkeys(each.dataset for each in refreshes):
        yield stack.format_arn(
            service="quicksight",
            resource="dataset",
            resource_name=f"{dataset}/ingestion/*",
            arn_format=ArnFormat.SLASH_RESOURCE_NAME,
        )
