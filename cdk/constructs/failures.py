"""How people hear of failures: a topic that machines, alarms and budgets publish to."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from cdk.constructs.inbox import queue
from cdk.constructs.keys import publishers, use_through
from lakekit.config.environment import Environment

TOPIC = "failures"


class Failures(Construct):
    """The topic, with the addresses of the environment."""

    def __init__(
        self, scope: Construct, id: str, *, environment: Environment, key: kms.IKey
    ) -> None:
        super().__init__(scope, id)
        self._key = key
        undelivered = queue(self, environment, "notices_dead", days=14)
        self.topic = sns.Topic(
            self,
            "topic",
            topic_name=environment.name(TOPIC),
            master_key=key,
            enforce_ssl=True,
        )
        for address in environment.notify:
            self.topic.add_subscription(
                subscriptions.EmailSubscription(address, dead_letter_queue=undelivered)
            )
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="PublishNotices",
                principals=publishers(),
                actions=["sns:Publish"],
                resources=[self.topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            )
        )

    def allow_publishing(self, machine: iam.IGrantable) -> None:
        """Let a state machine publish to the topic, and SNS use its key for the machine."""
        region, key = Stack.of(self).region, self._key.key_arn
        for statement in (
            iam.PolicyStatement(actions=["sns:Publish"], resources=[self.topic.topic_arn]),
            use_through("sns", region, key, "Decrypt", "GenerateDataKey"),
        ):
            machine.grant_principal.add_to_principal_policy(statement)
