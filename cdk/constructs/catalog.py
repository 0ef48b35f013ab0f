"""The key with which an account encrypts its catalog, and who may use it."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from lakekit.config.environment import Environment


def allow_catalog_key(role: iam.IRole, environment: Environment) -> None:
    """Let Glue use the key of the catalog for a role, which cannot use it for anything else.

    Glue encrypts with the key itself: https://docs.aws.amazon.com/glue/latest/dg/encrypt-glue-data-catalog.html
    """
    if environment.catalog_key is None:
        return
    through = f"glue.{Stack.of(role).region}.amazonaws.com"
    role.add_to_principal_policy(
        iam.PolicyStatement(
            actions=["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"],
            resources=[environment.catalog_key],
            conditions={"StringEquals": {"kms:ViaService": through}},
        )
    )
