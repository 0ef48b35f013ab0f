"""What a function is deployed with, read at its door; and the adapters that follow from it."""

import os
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import boto3
from pydantic import Field, Json, PositiveInt, ValidationError

from lakekit.aws.configuration.stored import find_configuration
from lakekit.aws.executions import Executions, Owners
from lakekit.aws.lease import Leases
from lakekit.aws.object_store import S3ObjectStore
from lakekit.aws.secrets import read_secret
from lakekit.config import load as config
from lakekit.config.addresses import LineageTarget
from lakekit.config.environment import EnvironmentName
from lakekit.config.money import Pause
from lakekit.config.schedule import Schedule
from lakekit.config.source import Source
from lakekit.config.workers import Jobs
from lakekit.contract.contract import Contract
from lakekit.errors import InvalidEnvironmentError, UnknownSourceError
from lakekit.models import Model, Name, describe_faults
from lakekit.ports import Flow

PREFIX = "LAKEKIT_"


class Settings(Model):
    """The `LAKEKIT_…` variables.

    jobs: the environment's limits of jobs. schedules, pause: when those of sources are switched on.
    table_metrics: whether each table has metrics of its own. load_jobs: the Glue jobs of a run.
    lineage: where events of OpenLineage go. results_bucket: where CompleteRun publishes its runs.
    schedule_group: the group of the sources' schedules.
    access_tag, view_workgroup: of ShareTable, the LF-tag of columns and what makes views.
    config_parameter: the parameter that says where sources and contracts are.
    config: a folder of them instead, as the sandbox has it.
    base_urls: addresses that replace those of the sources, by source.
    """

    environment: EnvironmentName
    landing_bucket: str
    database: Name
    warehouse: str
    lease_seconds: PositiveInt
    load_source_arn: str = ""
    maintain_tables_arn: str = ""
    jobs: Json[Jobs] = Field(default_factory=Jobs)
    schedules: bool = True
    pause: Json[Pause] | None = None
    table_metrics: bool = False
    lineage: Json[LineageTarget] | None = None
    results_bucket: str = ""
    load_jobs: Json[tuple[str, ...]] = ()
    schedule_group: str = ""
    access_tag: str = ""
    view_workgroup: str = ""
    config_parameter: str = ""
    config: Path | None = None
    base_urls: Json[dict[str, str]] = Field(default_factory=dict)

    @property
    def store(self) -> S3ObjectStore:
        """The landing bucket."""
        return S3ObjectStore(self.landing_bucket, client("s3"))

    @property
    def results(self) -> S3ObjectStore | None:
        """The bucket of results, for a function that publishes."""
        bucket = self.results_bucket
        return S3ObjectStore(bucket, client("s3")) if bucket else None

    @property
    def flow(self) -> Flow:
        """What the steps have at hand; a lease whose owner has ended may be taken over."""
        store, machines = self.store, client("stepfunctions")
        loads = Executions(self.load_source_arn, machines)
        owners = Owners(loads, Executions(self.maintain_tables_arn, machines))
        leases = Leases(store, utc_now, lifetime=self.lease_lifetime, is_running=owners.is_running)
        return Flow(store, leases, loads, utc_now)

    @property
    def lease_lifetime(self) -> timedelta:
        """After how long the lease of a table is free by itself."""
        return timedelta(seconds=self.lease_seconds)

    def source(self, name: str) -> Source:
        """Return a source, at the address at which this environment finds it.

        Raises:
            UnknownSourceError: It does not exist, or not in this environment.
        """
        source = config.read_source(self._folder, name)
        if not source.is_deployed_to(self.environment):
            raise UnknownSourceError(
                f"sources/{name}.yaml: environments does not name {self.environment}"
            )
        if name not in self.base_urls:
            return source
        moved = {"base_url": self.base_urls[name]}
        return Source.model_validate(source.model_dump(mode="json", by_alias=True) | moved)

    def secret(self, name: str) -> str:
        """Return the value of the secret that a source names for all environments."""
        full = name.replace("{environment}", self.environment)
        return read_secret(client("secretsmanager"), full)

    def contracts(self, source: str) -> tuple[Contract, ...]:
        """Return the contracts of a source."""
        return config.read_contracts(self._folder, source)

    def tables(self, sources: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return the tables of each of some sources that there are."""
        return config.read_tables(self._folder, sources)

    def schedules_by_source(self) -> dict[str, Schedule]:
        """Return the schedules of this environment that are switched on, but for a pause."""
        return config.read_schedules(self._folder, self.environment) if self.schedules else {}

    @property
    def _folder(self) -> Traversable:
        return find_configuration(self.config, self.config_parameter, client)


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of this process.

    Raises:
        InvalidEnvironmentError: With one line per variable that is missing or wrong.
    """
    variables = os.environ if environment is None else environment
    names = {f"{PREFIX}{field.upper()}": field for field in Settings.model_fields}
    found = {field: variables[name] for name, field in names.items() if variables.get(name)}
    try:
        return Settings.model_validate(found)
    except ValidationError as error:
        faults = describe_faults(error, Settings, "environment")
        raise InvalidEnvironmentError(faults) from None


def client(service: str) -> Any:
    """Return a client of one service; a warm function keeps it."""
    return _client(service, os.environ.get("AWS_ENDPOINT_URL"))


@cache
def _client(service: str, _endpoint: str | None) -> Any:
    # A session of its own: the default one is not made for threads.
    session: Any = boto3.session.Session()
    return session.client(service)


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)
