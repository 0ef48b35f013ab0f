"""A deployment as a person's machine reaches it: its bucket, its leases, its runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import boto3

from lakekit.aws.executions import Executions, Owners
from lakekit.aws.lease import Leases
from lakekit.aws.object_store import S3ObjectStore
from lakekit.aws.settings import utc_now
from lakekit.config.environment import Environment
from lakekit.errors import InvalidEnvironmentError
from lakekit.ports import ExecutionLog, Flow


@dataclass(frozen=True)
class Place:
    """One deployment, and the person who calls it; `machines` are its state machines by name."""

    flow: Flow
    log: ExecutionLog
    person: str
    machines: Mapping[str, Executions]


def place_of(
    client: Callable[[str], Any], bucket: str, machines: Mapping[str, str], person: str
) -> Place:
    """Return a deployment.

    Args:
        client: Makes a client of a service.
        bucket: Where it lands.
        machines: The ARNs of `load_source` and `maintain_tables`.
        person: Who calls it.
    """
    states = client("stepfunctions")
    store = S3ObjectStore(bucket, client("s3"))
    loads = Executions(machines["load_source"], states)
    maintenance = Executions(machines["maintain_tables"], states)
    owners = Owners(loads, maintenance)
    # A person looks at leases and takes none.
    leases = Leases(store, utc_now, lifetime=timedelta(0), is_running=owners.is_running)
    both = {"load_source": loads, "maintain_tables": maintenance}
    return Place(Flow(store, leases, loads, utc_now), loads, person, both)


def open_session(environment: Environment) -> Any:
    """Return a session of boto3 in an environment, with the credentials of this process.

    Raises:
        InvalidEnvironmentError: They are of another account.
    """
    session: Any = boto3.session.Session(region_name=environment.region)
    _identify(session, environment)
    return session


def open_environment(environment: Environment) -> Place:
    """Return an environment on AWS, reached with the credentials of this process.

    Raises:
        InvalidEnvironmentError: They are of another account.
    """
    region, account = environment.region, environment.account
    session: Any = boto3.session.Session(region_name=region)
    person = _identify(session, environment)
    partition = session.get_partition_for_region(region)
    machines = {
        name: f"arn:{partition}:states:{region}:{account}:stateMachine:{environment.name(name)}"
        for name in ("load_source", "maintain_tables")
    }
    return place_of(session.client, environment.bucket("landing"), machines, person)


def _identify(session: Any, environment: Environment) -> str:
    """Return who calls, who must be of the environment's account."""
    caller = session.client("sts").get_caller_identity()
    if caller["Account"] != environment.account:
        raise InvalidEnvironmentError(
            f"{environment.environment} is in account {environment.account}, and the AWS "
            f"credentials are of {caller['Account']} ({caller['Arn']}); choose others, for example "
            "by AWS_PROFILE"
        )
    person: str = caller["Arn"]
    return person
