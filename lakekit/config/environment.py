"""One environment: `base.yaml`, overlaid by the environment's own file."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError

from lakekit.errors import InvalidEnvironmentError
from lakekit.models import Model, Name, describe_faults, parse_yaml

FOLDER = Path("config/environments")

AccountId = Annotated[str, StringConstraints(pattern=r"^\d{12}$")]
Region = Annotated[str, StringConstraints(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$")]
Days = Annotated[int, Field(ge=1, le=3653)]
Email = Annotated[str, StringConstraints(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$")]


class Storage(Model):
    """Buckets and the catalog's database."""

    database: Name
    raw_days: Days | None = None
    noncurrent_days: Days = 30
    removal: Literal["retain", "destroy"] = "retain"


class Functions(Model):
    """What every Lambda function gets."""

    memory_mb: Annotated[int, Field(ge=128, le=10_240)] = 512
    log_days: Literal[1, 3, 7, 14, 30, 90, 180, 365] = 30


class Jobs(Model):
    """What every Glue job gets; two workers are the least that Glue allows."""

    workers: Annotated[int, Field(ge=2, le=299)] = 2
    timeout_minutes: Annotated[int, Field(ge=1, le=2880)] = 60
    max_concurrent_runs: Annotated[int, Field(ge=1, le=1000)] = 10


class Environment(Model):
    """Where and how large one deployment is."""

    environment: Literal["dev", "staging", "prod"]
    account: AccountId
    region: Region
    storage: Storage
    functions: Functions = Functions()
    jobs: Jobs = Jobs()
    schedules: bool = True
    notify: tuple[Email, ...] = ()

    def name(self, part: str) -> str:
        """Return the name of a resource of this environment, such as `lakekit-dev-start_run`."""
        return f"lakekit-{self.environment}-{part}"


def load_environment(name: str, *, folder: Path = FOLDER) -> Environment:
    """Read `base.yaml` and `{name}.yaml`.

    Raises:
        InvalidEnvironmentError: With one line per fault, after the overlay.
    """
    base = _read(folder / "base.yaml")
    own = _read(folder / f"{name}.yaml")
    document = overlay(base, {"environment": name, **own})
    try:
        environment = Environment.model_validate(document)
    except ValidationError as error:
        faults = describe_faults(error, Environment, f"{name}.yaml over base.yaml", document)
        raise InvalidEnvironmentError(faults) from None
    if environment.environment != name:
        raise InvalidEnvironmentError(
            f"{name}.yaml: environment: is '{environment.environment}'; must be the file's name"
        )
    return environment


def overlay(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return `base` with `own` over it, mapping by mapping.

    >>> overlay({"jobs": {"workers": 2, "timeout_minutes": 60}}, {"jobs": {"workers": 4}})
    {'jobs': {'workers': 4, 'timeout_minutes': 60}}
    """
    merged = dict(base)
    for key, value in own.items():
        under = merged.get(key)
        both = isinstance(under, dict) and isinstance(value, dict)
        merged[key] = overlay(under, value) if both else value  # type: ignore[arg-type]
    return merged


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidEnvironmentError(f"{path}: no such file") from None
    document: dict[str, Any] = parse_yaml(text, name=path.name, error=InvalidEnvironmentError)
    return document
