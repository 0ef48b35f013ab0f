"""What a sandbox is started with, and the environment that its children get."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

LOOPBACK = "127.0.0.1"
# Of a person, who may do everything. Moto asks for credentials and does not check them.
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox"}


@dataclass(frozen=True)
class Settings:
    """One sandbox.

    wait_scale: factor on the waits of state machines and queues; below 1 for tests and demos.
    """

    root: Path
    folder: Path
    assembly: Path
    account: str
    region: str
    endpoint: str
    config: Path | None = None
    base_urls: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    cold: bool = False
    wait_scale: float = 1.0

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    def child_environment(self, key: str) -> dict[str, str]:
        """Return the environment of what calls with an access key: without this AWS account."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "LAKEKIT_"))}
        no_proxy = ",".join(filter(None, [os.environ.get("no_proxy", ""), "127.0.0.1,localhost"]))
        own = {"LAKEKIT_BASE_URLS": json.dumps(self.base_urls)} if self.base_urls else {}
        if self.config:
            own["LAKEKIT_CONFIG"] = str(self.config)
        return {
            **kept,
            **own,
            **aws_environment(self.endpoint, self.region),
            "AWS_ACCESS_KEY_ID": key,
            "no_proxy": no_proxy,
            "NO_PROXY": no_proxy,
        }


def role_name(arn: str) -> str:
    """Return the name of a role, which is the access key id of what runs as that role."""
    return arn.rpartition("/")[2]


def aws_environment(endpoint: str, region: str) -> dict[str, str]:
    """Return the variables that let any AWS client talk to a sandbox."""
    return {
        **CREDENTIALS,
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_DEFAULT_REGION": region,
        "AWS_REGION": region,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
