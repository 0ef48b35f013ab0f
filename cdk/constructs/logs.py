"""Log groups: encrypted, and kept as long as the environment says."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from lakekit.config.environment import Environment


def log_group(
    scope: Construct, id: str, name: str, *, environment: Environment, key: kms.IKey
) -> logs.LogGroup:
    """Return a log group, which goes with its stack."""
    group = logs.LogGroup(
        scope,
        id,
        log_group_name=name,
        encryption_key=key,
        removal_policy=RemovalPolicy.DESTROY,
    )
    resource = group.node.default_child
    assert isinstance(resource, logs.CfnLogGroup)  # noqa: S101
    resource.retention_in_days = environment.log_days
    return group
