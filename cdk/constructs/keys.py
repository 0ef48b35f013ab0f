"""The keys of an environment: one for data, one for what people and services say about it."""

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from lakekit.config.environment import Environment

# Who publishes to the topic of failures, which the key of logs encrypts.
PUBLISHERS = ("budgets", "cloudwatch", "costalerts")


class EnvironmentKey(kms.Key):
    """A key that is rotated, and stays when its stack goes: without it nothing can be read."""

    def __init__(self, scope: Construct, id: str, *, environment: Environment) -> None:
        super().__init__(
            scope,
            f"{id}_key",
            alias=f"alias/{environment.name(id)}",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )


def use_through(service: str, region: str, key: str, *actions: str) -> iam.PolicyStatement:
    """Return the right to have a service use a key, and to do nothing with the key itself."""
    return iam.PolicyStatement(
        actions=[f"kms:{action}" for action in actions],
        resources=[key],
        conditions={"StringEquals": {"kms:ViaService": f"{service}.{region}.amazonaws.com"}},
    )


def allow_logs(key: kms.Key) -> None:
    """Let CloudWatch encrypt the log groups of this account and region."""
    stack = Stack.of(key)
    groups = stack.format_arn(service="logs", resource="*")
    key.add_to_resource_policy(
        iam.PolicyStatement(
            sid="EncryptLogGroups",
            principals=[iam.ServicePrincipal(f"logs.{stack.region}.amazonaws.com")],
            actions=["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*",
                     "kms:Describe*"],
            resources=["*"],
            conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}},
        )
    )  # fmt: skip


def allow_publishers(key: kms.Key) -> None:
    """Let alarms, budgets and cost alerts publish to topics that a key encrypts."""
    key.add_to_resource_policy(
        iam.PolicyStatement(
            sid="PublishNotices",
            principals=publishers(),
            actions=["kms:Decrypt", "kms:GenerateDataKey*"],
            resources=["*"],
            conditions={"StringEquals": {"aws:SourceAccount": Stack.of(key).account}},
        )
    )


def publishers() -> list[iam.IPrincipal]:
    """Return the services that publish notices."""
    return [iam.ServicePrincipal(f"{name}.amazonaws.com") for name in PUBLISHERS]
