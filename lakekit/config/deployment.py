"""What does not fit together between the sources and environments of a project."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from lakekit.config.environment import Environment, read_environments
from lakekit.config.load import read_sources
from lakekit.config.schedule import is_time_zone
from lakekit.config.source import Source
from lakekit.errors import InvalidContractError, InvalidEnvironmentError
from lakekit.models import Fault


def source_faults(source: Source, environments: Mapping[str, Environment]) -> Iterator[Fault]:
    """Yield what of a source cannot be deployed; what it says of no environment is not checked."""
    unknown = [name for name in source.environments or () if name not in environments]
    if environments and unknown:
        known = ", ".join(environments)
        yield Fault(("environments",), f"there is no {', '.join(unknown)}; there are {known}")
    if source.schedule and not is_time_zone(source.schedule.time_zone):
        zone = source.schedule.time_zone
        yield Fault(("schedule", "time_zone"), f"'{zone}' is not a time zone of the IANA database")
    for name, environment in environments.items():
        if not source.is_deployed_to(name):
            continue
        for path, secret in source.secrets():
            if not secret.name.replace("{environment}", name).startswith(environment.secrets):
                must = f"must begin with {environment.secrets} to be read in {name}"
                yield Fault(path, must)


def environment_faults(environments: Iterable[Environment]) -> dict[str, Fault]:
    """Return the faults of environments that share an account, a region and a database."""
    owners: dict[tuple[str, str, str], str] = {}
    faults = {}
    for each in environments:
        owner = owners.setdefault((each.account, each.region, each.database), each.environment)
        if owner != each.environment:
            faults[each.environment] = Fault(
                ("storage", "database"),
                f"'{each.database}' is the database of {owner} too, in the same account and region",
            )
    return faults


def load_deployment(config: Path) -> tuple[dict[str, Environment], tuple[Source, ...]]:
    """Load environments by name, and sources; refuse those that do not fit together.

    Raises:
        InvalidEnvironmentError: An environment does not load, or has the database of another one.
        InvalidContractError: A source does not load, or cannot be deployed.
    """
    environments = read_environments(config / "environments")
    if clashes := environment_faults(environments.values()):
        raise InvalidEnvironmentError(_lines(clashes.items()))
    sources = read_sources(config)
    faults = [
        (source.source, fault)
        for source in sources
        for fault in source_faults(source, environments)
    ]
    if faults:
        raise InvalidContractError(_lines(faults))
    return environments, sources


def _lines(faults: Iterable[tuple[str, Fault]]) -> str:
    return "\n".join(f"{name}.yaml: {fault}" for name, fault in faults)
