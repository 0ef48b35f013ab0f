"""What all that runs in one environment shares."""

from dataclasses import dataclass
from pathlib import Path

from aws_cdk import aws_kms as kms

from lakekit.config.environment import Environment


@dataclass(frozen=True)
class Deployment:
    """An environment, the folder of the project, the key of its logs."""

    environment: Environment
    root: Path
    log_key: kms.IKey
