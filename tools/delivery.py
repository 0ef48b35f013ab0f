"""Which environments GitHub's workflows deliver to, with their regions and roles.

One line for `$GITHUB_OUTPUT`: what the files of the example's environments say is said once.
"""

import json
import sys
from pathlib import Path

from lakekit.config.environment import Environment, read_environments

ROOT = Path(__file__).resolve().parents[1]


def targets(environments: dict[str, Environment]) -> dict[str, dict[str, str]]:
    """Return the environments that have `delivery`, without those of the pipeline."""
    piped = {name for each in environments.values() for name in each.deployed_by_pipeline}
    return {
        name: {
            "environment": name,
            "region": each.region,
            "deploy": role_arn(each, "deploy"),
            "diff": role_arn(each, "diff"),
        }
        for name, each in environments.items()
        if each.delivery and name not in piped
    }


def role_arn(environment: Environment, role: str) -> str:
    """Return the ARN of a role of the delivery stack."""
    partition = "aws-cn" if environment.region.startswith("cn-") else "aws"
    return f"arn:{partition}:iam::{environment.account}:role/{environment.name(role)}"


if __name__ == "__main__":
    found = targets(read_environments(ROOT / "examples/airports/config/environments"))
    sys.stdout.write(f"delivery={json.dumps(found)}\n")
