"""Values of Secrets Manager; they go into a request's header and nowhere else."""

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from lakekit.aws.errors import code_of, translated
from lakekit.errors import SourceRejectedError

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient


def read_secret(client: "SecretsManagerClient", name: str) -> str:
    """Return the text of a secret.

    Raises:
        SourceRejectedError: It is absent, empty, or may not be read: nobody can sign in.
    """
    try:
        with translated(f"secret {name}"):
            value = client.get_secret_value(SecretId=name).get("SecretString", "")
    except ClientError as error:
        raise SourceRejectedError(f"secret {name}: {code_of(error)}") from None
    if not value:
        raise SourceRejectedError(f"secret {name}: has no text")
    return value
