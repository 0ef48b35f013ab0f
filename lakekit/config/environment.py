"""One environment: `base.yaml`, overlaid by the environment's own file."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from lakekit.config.addresses import Lineage
from lakekit.config.functions import Functions
from lakekit.config.infrastructure.delivery import Delivery
from lakekit.config.infrastructure.governance import (
    Audit,
    KeyArn,
    LakeFormation,
    Preparation,
    Refresh,
    reader_faults,
    tool_faults,
)
from lakekit.config.infrastructure.network import (
    Network,
    lineage_faults,
    parse_network,
    zone_faults,
)
from lakekit.config.infrastructure.regions import Region
from lakekit.config.infrastructure.replication import replication_faults
from lakekit.config.infrastructure.streams import NAME_LENGTH, Stream
from lakekit.config.money import Budget, Pause, Tags
from lakekit.config.schedule import is_time_zone
from lakekit.config.storage import Queries, Storage
from lakekit.config.timeouts import TimeOuts, derive_timeouts
from lakekit.config.workers import Jobs
from lakekit.errors import InvalidEnvironmentError
from lakekit.models import Fault, Model, Name, describe_faults, parse_yaml, place_of

BASE = "base"
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html; the other names that
# begin with the prefix may be longer.
BUCKET_NAME_LENGTH = 63
RESERVED_PREFIXES = ("amzn", "aws", "sthree", "xn")
RESERVED_DATABASES = ("default", "global_temp", "information_schema")


def _check_environment(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ValueError("must be lower-case letters and digits, with single hyphens inside")
    if name == BASE:
        raise ValueError(
            f"'{BASE}' is the file of what all environments share; choose another name"
        )
    return name


def _check_prefix(prefix: str) -> str:
    # Without a hyphen, or two deployments could make one name of different parts.
    if not re.fullmatch(r"[a-z][a-z0-9]*", prefix):
        raise ValueError("must be lower-case letters and digits, and begin with a letter")
    if prefix in RESERVED_PREFIXES:
        raise ValueError(f"'{prefix}' is reserved by AWS; choose another one")
    return prefix


def _check_account(account: str) -> str:
    if not re.fullmatch(r"\d{12}", account) or account == "0" * 12:
        raise ValueError("must be the 12 digits of an account of AWS, in quotes")
    return account


EnvironmentName = Annotated[str, AfterValidator(_check_environment)]
Prefix = Annotated[str, AfterValidator(_check_prefix)]
AccountId = Annotated[str, AfterValidator(_check_account)]
PolicyName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_+=,.@-]{1,128}$")]
Email = Annotated[str, StringConstraints(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$")]


# What CloudWatch takes: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
LogDays = Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192,
                  2557, 2922, 3288, 3653]  # fmt: skip


class Environment(Model):
    """Where and how large one deployment is; `prefix` distinguishes those of one account.

    production: by its name, unless it is said. log_days: how long logs are kept, those of access
    to the buckets too. lineage: where events of OpenLineage go. permissions_boundary: the name of
    a policy that bounds every role. network: none, vpc, or what it is like. smoke: the source that
    is loaded to try a release. catalog_key: with which the account encrypts the catalog, if it is
    not AWS's own key. refreshes, preparations: of QuickSight and DataBrew.
    """

    environment: EnvironmentName
    production: bool | None = None
    prefix: Prefix = "lakekit"
    account: AccountId
    region: Region
    storage: Storage = Storage()
    queries: Queries = Queries()
    network: Network | None = None
    functions: Functions = Functions()
    jobs: Jobs = Jobs()
    streams: tuple[Stream, ...] = ()
    catalog_key: KeyArn | None = None
    lake_formation: LakeFormation | None = None
    audit: Audit | None = None
    refreshes: Annotated[tuple[Refresh, ...], Field(max_length=20)] = ()
    preparations: Annotated[tuple[Preparation, ...], Field(max_length=20)] = ()
    log_days: LogDays = 30
    schedules: bool = True
    pause: Pause | None = None
    notify: tuple[Email, ...] = ()
    table_metrics: bool = False
    lineage: Lineage | None = None
    budget: Budget | None = None
    tags: Tags = Tags()
    permissions_boundary: PolicyName | None = None
    smoke: Name | None = None
    delivery: Delivery | None = None

    @field_validator("network", mode="before")
    @classmethod
    def _may_be_a_word(cls, value: Any) -> Any:
        return parse_network(value)

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        longest = self.bucket("landing")
        if len(longest) > BUCKET_NAME_LENGTH:
            raise ValueError(
                f"'{longest}' has {len(longest)} characters, and the name of a bucket has "
                f"{BUCKET_NAME_LENGTH} at most; shorten prefix or environment"
            )
        if self.database in RESERVED_DATABASES:
            raise ValueError(
                f"'{self.database}' is taken by AWS or Spark; set another storage.database"
            )
        return self

    def name(self, part: str) -> str:
        """Return a resource's name in this environment, such as `lakekit-dev-start_run`."""
        return f"{self.prefix}-{self.environment}-{part}"

    def bucket(self, part: str) -> str:
        """Return the name of a bucket, which no other account may have."""
        return f"{self.name(part)}-{self.account}-{self.region}"

    @property
    def buckets(self) -> tuple[str, ...]:
        """The names of all its buckets."""
        more = ("trail",) if self.audit else ()
        return tuple(self.bucket(part) for part in ("access", "lake", "landing", "results", *more))

    @property
    def is_production(self) -> bool:
        """Say whether others depend on what it holds: somebody must hear of failures."""
        if self.production is None:
            return re.fullmatch(r"prod(uction)?(-.+)?", self.environment) is not None
        return self.production

    @property
    def all_tags(self) -> dict[str, str]:
        """The tags of every resource."""
        own = {"environment": self.environment, "project": self.tags.project}
        team = {"team": self.tags.team} if self.tags.team else {}
        return {**self.tags.free, **own, **team}

    @property
    def database(self) -> str:
        """The catalog's database."""
        own = f"{self.prefix}_{self.environment}".replace("-", "_")
        return self.storage.database or own

    def parameter(self, part: str) -> str:
        """Return the name of a parameter in Systems Manager."""
        return f"/{self.prefix}/{self.environment}/{part}"

    @property
    def access_tag(self) -> str | None:
        """The key of the LF-tag that says who may read a column."""
        return self.name("access") if self.lake_formation else None

    @property
    def shares_tables(self) -> bool:
        """Whether something is done for readers after each load of a table."""
        return self.lake_formation is not None or self.queries.views

    @property
    def secrets(self) -> str:
        """What the names of the secrets begin with that sources may use."""
        return f"{self.prefix}/{self.environment}/"

    @property
    def deployed_by_pipeline(self) -> tuple[str, ...]:
        """The environments that the pipeline in this one's account deploys."""
        pipeline = self.delivery.pipeline if self.delivery else None
        return pipeline.environments if pipeline else ()

    @property
    def timeouts(self) -> TimeOuts:
        """How long jobs, states, leases and executions may last."""
        return derive_timeouts(self.jobs.timeout_minutes)


def environment_names(folder: Path) -> list[str]:
    """Return the environments of a project: the names of their files."""
    return sorted(file.stem for file in folder.glob("*.yaml") if file.stem != BASE)


def read_environments(folder: Path) -> dict[str, Environment]:
    """Read all environments, by name; see `load_environment` for errors, of all files at once."""
    found, faults = {}, []
    for name in environment_names(folder):
        try:
            found[name] = load_environment(name, folder=folder)
        except InvalidEnvironmentError as error:
            faults.append(str(error))
    if faults:
        raise InvalidEnvironmentError("\n".join(faults))
    return found


def check_base(folder: Path) -> None:
    """Check `base.yaml` alone, with stand-ins for what each environment must say itself.

    Raises:
        InvalidEnvironmentError: With one line per fault.
    """
    stand_ins = {"environment": "any", "account": "1" * 12, "region": "eu-west-1"}
    file = folder / f"{BASE}.yaml"
    _validate(overlay(stand_ins, _read(file)), partial(_place, [file]))


def load_environment(name: str, *, folder: Path) -> Environment:
    """Read `base.yaml` and `{name}.yaml`.

    Raises:
        InvalidEnvironmentError: With one line per fault, after the overlay.
    """
    base = _read(folder / f"{BASE}.yaml")
    own = _read(folder / f"{name}.yaml")
    files = [folder / f"{each}.yaml" for each in (name, BASE)]
    document = overlay(base, {"environment": name, **own})
    environment = _validate(document, partial(_place, files))
    faults = list(faults_between(environment))
    if environment.environment != name:
        message = f"is '{environment.environment}'; must be the file's name"
        faults = [Fault(("environment",), message)]
    if faults:
        lines = (f"{_place(files, fault.path)}: {fault}" for fault in faults)
        raise InvalidEnvironmentError("\n".join(lines))
    return environment


def faults_between(environment: Environment) -> Iterator[Fault]:
    """Yield the fields of an environment that do not fit together."""
    name, pause = environment.environment, environment.pause
    if environment.is_production and not environment.notify:
        yield Fault(
            ("notify",),
            f"{name} is production, and nobody would hear of a failure; name an address",
        )
    if environment.delivery and not environment.smoke:
        yield Fault(("smoke",), "delivery tries each release; name the source to load for it")
    if environment.budget and not environment.notify:
        yield Fault(("budget",), "nobody would hear of it; name an address under notify")
    secret = environment.lineage and environment.lineage.secret
    if secret and not secret.replace("{environment}", name).startswith(environment.secrets):
        yield Fault(
            ("lineage", "secret"), f"must begin with {environment.secrets} to be read in {name}"
        )
    if pause and environment.is_production:
        yield Fault(("pause",), f"{name} is production, which is never paused; remove it")
    if pause and not environment.schedules:
        yield Fault(("pause",), "schedules is false, so that there is nothing to pause; remove it")
    if pause and not is_time_zone(pause.time_zone):
        yield Fault(
            ("pause", "time_zone"),
            f"'{pause.time_zone}' is not a time zone of the IANA database",
        )
    yield from _infrastructure_faults(environment)


def _infrastructure_faults(environment: Environment) -> Iterator[Fault]:
    if environment.network:
        yield from zone_faults(environment.network, environment.region)
        if environment.lineage:
            yield from lineage_faults(environment.network, environment.lineage.url)
    readers, key = environment.lake_formation, environment.catalog_key
    yield from reader_faults(readers, key, environment.account, environment.region)
    yield from tool_faults(environment.refreshes, environment.preparations)
    if environment.storage.replication:
        yield from replication_faults(
            environment.storage.replication, environment.region, environment.buckets
        )
    contracts = [stream.contract for stream in environment.streams]
    for number, contract in enumerate(contracts):
        name, place = environment.name(contract), ("streams", number, "contract")
        if contract in contracts[:number]:
            yield Fault(place, f"'{contract}' has a stream already; a contract has one")
        if len(name) > NAME_LENGTH:
            yield Fault(
                place,
                f"'{name}' has {len(name)} characters, and the name of a stream of Firehose has "
                f"{NAME_LENGTH} at most; shorten prefix, environment or contract",
            )
    pipeline = environment.delivery.pipeline if environment.delivery else None
    if pipeline and pipeline.account != environment.account:
        yield Fault(
            ("delivery", "pipeline", "connection"),
            f"is in account {pipeline.account}, and {environment.environment} in "
            f"{environment.account}; a pipeline is in the account of the file that has it",
        )


def overlay(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return `base` with `own` over it, mapping by mapping.

    >>> overlay({"jobs": {"flex": False, "timeout_minutes": 60}}, {"jobs": {"flex": True}})
    {'jobs': {'flex': True, 'timeout_minutes': 60}}
    """
    merged = dict(base)
    for key, value in own.items():
        under = merged.get(key)
        both = isinstance(under, dict) and isinstance(value, dict)
        merged[key] = overlay(under, value) if both else value  # type: ignore[arg-type]
    return merged


def _place(files: Sequence[Path], path: tuple[str | int, ...]) -> str:
    """Return where a field is: in the first of some files that has it, else in all of them."""
    for file in files:
        line, column, found = place_of(file.read_text(encoding="utf-8"), path)
        if path and found == len(path):
            return f"{file}:{line}:{column}"
    return " over ".join(str(file) for file in files)


def _validate(
    document: dict[str, Any], name: Callable[[tuple[str | int, ...]], str]
) -> Environment:
    try:
        return Environment.model_validate(document)
    except ValidationError as error:
        faults = describe_faults(error, Environment, name, document)
        raise InvalidEnvironmentError(faults) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidEnvironmentError(f"{path}: no such file") from None
    document: dict[str, Any] = parse_yaml(text, name=str(path), error=InvalidEnvironmentError)
    return document
