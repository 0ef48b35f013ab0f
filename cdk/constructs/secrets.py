"""Which secrets a function may read: those that sources name, and no other."""

from collections.abc import Iterable

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from cdk.constructs.keys import use_through
from lakekit.config.environment import Environment
from lakekit.config.source import Source

# A managed policy has 6,144 characters at most; its ARNs, with quotes and commas, have so many.
CHARACTERS = 5_500


def secret_names(environment: Environment, sources: Iterable[Source]) -> list[str]:
    """Return the secrets of the sources that an environment has."""
    name = environment.environment
    return sorted(
        {
            secret.name.replace("{environment}", name)
            for source in sources
            if source.is_deployed_to(name)
            for _, secret in source.secrets()
        }
    )


def reading(stack: Stack, names: Iterable[str]) -> iam.PolicyStatement:
    """Return the right to read secrets, of which Secrets Manager ends each ARN with six letters."""
    arns = [
        stack.format_arn(
            service="secretsmanager",
            resource="secret",
            resource_name=f"{name}-??????",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        for name in names
    ]
    return iam.PolicyStatement(actions=["secretsmanager:GetSecretValue"], resources=arns)


def decrypting(stack: Stack, key: kms.IKey) -> iam.PolicyStatement:
    """Return the right to have secrets decrypted with our key; AWS's own needs none."""
    return use_through("secretsmanager", stack.region, key.key_arn, "Decrypt")


class ReadableSecrets(Construct):
    """Managed policies of a role: an inline one would not hold the secrets of 200 sources.

    A source with another secret changes them, and neither the role nor its function.
    """

    def __init__(
        self, scope: Construct, id: str, *, role: iam.Role, names: Iterable[str], key: kms.IKey
    ) -> None:
        super().__init__(scope, id)
        stack = Stack.of(self)
        for number, part in enumerate(_parts(stack, names)):
            statements = [reading(stack, part), *([] if number else [decrypting(stack, key)])]
            iam.ManagedPolicy(self, f"policy{number}", roles=[role], statements=statements)


def _parts(stack: Stack, names: Iterable[str]) -> list[list[str]]:
    """Return the names in parts of which each fits into one policy."""
    # The partition is known at deployment alone; the longest is `aws-us-gov`.
    around = len(f"arn:aws-us-gov:secretsmanager:{stack.region}:{stack.account}:secret:-??????") + 3
    parts: list[list[str]] = []
    room = 0
    for name in names:
        size = len(name) + around
        if size > room:
            parts.append([])
            room = CHARACTERS
        parts[-1].append(name)
        room -= size
    return parts
