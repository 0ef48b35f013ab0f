"""How people hear of failures: the topic, alarms of dead letters and of endless executions."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from lakekit.config.environment import Environment

PERIOD = Duration.minutes(5)
ALARMS = iam.ServicePrincipal("cloudwatch.amazonaws.com")


class Failures(Construct):
    """A topic to which state machines and alarms publish."""

    def __init__(
        self, scope: Construct, id: str, *, environment: Environment, key: kms.IKey
    ) -> None:
        super().__init__(scope, id)
        self._environment = environment
        self.topic = sns.Topic(
            self,
            "topic",
            topic_name=environment.name("failures"),
            master_key=key,
            enforce_ssl=True,
        )
        for address in environment.notify:
            self.topic.add_subscription(subscriptions.EmailSubscription(address))
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[ALARMS],
                actions=["sns:Publish"],
                resources=[self.topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            )
        )

    def alarm(self, dead_letters: sqs.Queue, name: str) -> None:
        """Notify the topic when a queue of dead letters gets a message."""
        waiting = dead_letters.metric_approximate_number_of_messages_visible(
            period=PERIOD, statistic="Maximum"
        )
        # In the stack of the queue, which may come after this one.
        self._alarm(dead_letters, waiting, name, "holds what could not be started")

    def alarm_time_outs(self, machine: sfn.StateMachine, name: str) -> None:
        """Notify the topic when a whole execution times out: no state of it can."""
        timed_out = machine.metric_timed_out(period=PERIOD, statistic="Sum")
        self._alarm(machine, timed_out, f"{name}_timed_out", "had an execution that never ended")

    def _alarm(self, scope: Construct, metric: cloudwatch.Metric, part: str, what: str) -> None:
        name = self._environment.name(part)
        alarm = metric.create_alarm(
            scope,
            "alarm",
            alarm_name=name,
            alarm_description=f"{name} {what}",
            threshold=1,
            evaluation_periods=1,
            comparison_operator=(cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD),
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.SnsAction(self.topic))


def allow_alarms(key: kms.Key) -> None:
    """Let alarms publish to topics that a key encrypts."""
    key.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[ALARMS],
            actions=["kms:Decrypt", "kms:GenerateDataKey*"],
            resources=["*"],
            conditions={"StringEquals": {"aws:SourceAccount": Stack.of(key).account}},
        )
    )
