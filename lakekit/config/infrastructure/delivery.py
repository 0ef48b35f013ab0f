"""How releases come into an environment: from which repository, with which rights, in which order.

Without it, a person deploys.
"""

from typing import Annotated

from pydantic import Field, StringConstraints, field_validator

from lakekit.models import Model

Repository = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$")
]
Branch = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$")]
ConnectionArn = Annotated[
    str,
    StringConstraints(
        pattern=r"^arn:aws[a-z-]*:code(connections|star-connections):"
        r"[a-z0-9-]+:\d{12}:connection/[0-9a-f-]{36}$"
    ),
]


class Pipeline(Model):
    """A pipeline of CodePipeline, in the account of the environment whose file has it.

    environments: those that it deploys, in their order.
    """

    connection: ConnectionArn
    branch: Branch = "main"
    environments: Annotated[tuple[str, ...], Field(min_length=1)]

    @field_validator("environments")
    @classmethod
    def _come_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(names)) < len(names):
            raise ValueError("an environment is named twice")
        return names

    @property
    def account(self) -> str:
        """The account of the connection."""
        return self.connection.split(":")[4]


class Delivery(Model):
    """The repository on GitHub whose workflows may deploy.

    existing_provider: GitHub is known to the account already, which can have it but once.
    """

    repository: Repository
    existing_provider: bool = False
    pipeline: Pipeline | None = None
