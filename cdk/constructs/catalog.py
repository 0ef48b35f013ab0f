"""The key with which an account encrypts its catalog, and who may use it."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from cdk.constructs.keys import use_through
from lakekit.config.environment import Environment


def allow_catalog_key(role: iam.IRole, environment: Environment) -> None:
    """Let Glue use the key of the catalog for a role, which cannot use it for anything else.

    Glue encrypts with the key itself: https://docs.aws.amazon.com/glue/latest/dg/encrypt-glue-data-catalog.html
    """
    if environment.catalog_key is None:
        return
    region, key = Stack.of(role).region, environment.catalog_key
    role.add_to_principal_policy(
        use_through("glue", region, key, "Decrypt", "Encrypt", "GenerateDataKey")
    )
