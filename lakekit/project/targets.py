"""Which environments a project's workflows on GitHub deliver to, with their regions and roles.

`python -m lakekit.project.targets [FOLDER]` prints one line for `$GITHUB_OUTPUT`: what the files of
environments say is said once.
"""

import json
import sys
from pathlib import Path

from lakekit.config.environment import Environment, read_environments
from lakekit.project.folder import open_project


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


def main(folder: str = ".") -> None:
    """Print those of a project."""
    found = targets(read_environments(open_project(Path(folder)).environments))
    sys.stdout.write(f"delivery={json.dumps(found)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
