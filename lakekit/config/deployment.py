"""What does not fit together between the sources and environments of a project."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path as FilePath

from lakekit import layout
from lakekit.config.environment import Environment, read_environments
from lakekit.config.infrastructure.network import Network
from lakekit.config.load import contract_names, read_sources
from lakekit.config.schedule import is_time_zone
from lakekit.config.source import Source
from lakekit.errors import InvalidContractError, InvalidEnvironmentError
from lakekit.models import Fault, Path


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


def environment_faults(environments: Iterable[Environment]) -> list[tuple[str, Fault]]:
    """Return what does not fit together between environments, with the name of the later one."""
    known = list(environments)
    return [
        (each.environment, fault)
        for number, each in enumerate(known)
        for fault in (
            *(fault for other in known[:number] for fault in _pair_faults(each, other)),
            *_pipeline_faults(each, {other.environment: other for other in known}),
        )
    ]


def _pair_faults(each: Environment, other: Environment) -> Iterator[Fault]:
    same_account = each.account == other.account
    same_region = same_account and each.region == other.region
    if same_region and each.database == other.database:
        yield Fault(
            ("storage", "database"),
            f"'{each.database}' is the database of {other.environment} too, in the same account "
            "and region",
        )
    yield from _copy_faults(each, other)
    if each.network and other.network:
        yield from _network_faults(each.network, other.network, other, same_region=same_region)
    if each.delivery and other.delivery:
        if same_account and not (
            each.delivery.existing_provider or other.delivery.existing_provider
        ):
            yield Fault(
                ("delivery", "existing_provider"),
                f"{other.environment} makes GitHub known to the same account, which can have it "
                "but once; set it to true",
            )
        if each.delivery.pipeline and other.delivery.pipeline:
            yield Fault(
                ("delivery", "pipeline"),
                f"{other.environment} has a pipeline too; a project has one, in the file of the "
                "environment in whose account it is",
            )


def _copy_faults(each: Environment, other: Environment) -> Iterator[Fault]:
    for name in sorted(_written(each) & _written(other)):
        yield Fault(
            ("storage", "replication"),
            f"{name} is written by {other.environment} too; give each copy a bucket of its own",
        )


def _written(environment: Environment) -> set[str]:
    """Return the buckets that an environment has, and those of its copies."""
    copies = environment.storage.replication
    return {*environment.buckets, *(copies.names.values() if copies else ())}


def _network_faults(
    each: Network, other: Network, owner: Environment, *, same_region: bool
) -> Iterator[Fault]:
    if each.vpc_id and each.vpc_id == other.vpc_id and not same_region:
        yield Fault(
            ("network", "vpc_id"),
            f"{each.vpc_id} is the VPC of {owner.environment} in account {owner.account} and "
            f"{owner.region}; a VPC is in one account and region",
        )
    if each.vpc_id is None and other.vpc_id is None and each.block.overlaps(other.block):
        yield Fault(
            ("network", "cidr"),
            f"{each.block} overlaps {other.block} of {owner.environment}; give each network of a "
            "project a range of its own, so that they can be connected",
        )


def _pipeline_faults(environment: Environment, known: Mapping[str, Environment]) -> Iterator[Fault]:
    # What was checked alone says nothing of others.
    for name in environment.deployed_by_pipeline if len(known) > 1 else ():
        place = ("delivery", "pipeline", "environments")
        if name not in known:
            yield Fault(place, f"there is no {name}; there are {', '.join(known)}")
        elif not known[name].delivery:
            yield Fault(place, f"{name} has no delivery, so that it would not trust the pipeline")


def missing_source_faults(environment: Environment, sources: Iterable[Source]) -> Iterator[Fault]:
    """Yield what an environment says of sources that it does not have."""
    name = environment.environment
    known = {each.source for each in sources if each.is_deployed_to(name)}
    wanted: list[tuple[Path, str]] = [
        (("streams", number, "source"), stream.source)
        for number, stream in enumerate(environment.streams)
    ]
    wanted += [
        (("preparations", number, "source"), each.source)
        for number, each in enumerate(environment.preparations)
    ]
    if environment.smoke:
        wanted.append((("smoke",), environment.smoke))
    for path, source in wanted:
        if source not in known:
            there = f"there are {', '.join(sorted(known))}" if known else "there is none"
            yield Fault(path, f"{name} has no source '{source}'; {there}")


def missing_contract_faults(
    environment: Environment, contracts: Collection[str]
) -> Iterator[Fault]:
    """Yield what an environment says of contracts that there are not, and names that are taken."""
    wanted: list[tuple[Path, str]] = [
        ((field, number, part), getattr(each, part))
        for field, part in (
            ("streams", "contract"), ("refreshes", "table"), ("preparations", "contract"),
        )
        for number, each in enumerate(getattr(environment, field))
    ]  # fmt: skip
    for path, name in wanted:
        if name not in contracts:
            close = get_close_matches(name, sorted(contracts), n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            yield Fault(path, f"there is no contract '{name}'{hint}")
    taken = [each for each in sorted(contracts) if layout.current_view(each) in contracts]
    for name in taken if environment.queries.views else ():
        yield Fault(
            ("queries", "views"),
            f"the view of '{name}' would be called '{layout.current_view(name)}', as another "
            "contract is; rename that contract, or leave views out",
        )


def load_deployment(config: FilePath) -> tuple[dict[str, Environment], tuple[Source, ...]]:
    """Load environments by name, and sources; refuse those that do not fit together.

    Raises:
        InvalidEnvironmentError: An environment does not load, or does not fit the others.
        InvalidContractError: A source does not load, or cannot be deployed.
    """
    environments = read_environments(config / "environments")
    if clashes := environment_faults(environments.values()):
        raise InvalidEnvironmentError(_lines(clashes))
    sources, contracts = read_sources(config), contract_names(config)
    if missing := [
        (name, fault)
        for name, each in environments.items()
        for fault in (
            *missing_source_faults(each, sources), *missing_contract_faults(each, contracts),
        )
    ]:  # fmt: skip
        raise InvalidEnvironmentError(_lines(missing))
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
