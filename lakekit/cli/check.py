"""What is wrong with contracts, sources and environments: each alone, and among the others."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from lakekit.config.deployment import (
    environment_faults,
    missing_contract_faults,
    missing_source_faults,
    source_faults,
)
from lakekit.config.environment import (
    BASE,
    Environment,
    check_base,
    environment_names,
    load_environment,
)
from lakekit.config.load import address_fault, derived_name_faults, name_fault
from lakekit.config.source import Source, load_source
from lakekit.contract.checked import CheckedContract
from lakekit.contract.contract import Contract, load_contract
from lakekit.contract.families import family_faults
from lakekit.errors import InvalidContractError, InvalidEnvironmentError
from lakekit.local.warehouse import read_text
from lakekit.models import Fault, located, parse_yaml

Document = Contract | Source | Environment


def check_files(files: Iterable[Path]) -> dict[Path, list[str]]:
    """Return a line for each fault of each file; none for one that holds."""
    faults: dict[Path, list[str]] = {file: [] for file in files}
    loaded: dict[Path, Document] = {}
    for file in faults:
        try:
            document = _load(file)
        except (InvalidContractError, InvalidEnvironmentError) as error:
            faults[file] = str(error).splitlines()
        else:
            loaded |= {file: document} if document else {}
    contracts = derived_name_faults(d for d in loaded.values() if isinstance(d, Contract))
    parents = _parent_faults(loaded)
    environments = environment_faults(d for d in loaded.values() if isinstance(d, Environment))
    around = cache(_environments)
    for file, document in loaded.items():
        found = list(_place_faults(file, document, around))
        if isinstance(document, Contract) and document.contract in contracts:
            found.append(contracts[document.contract])
        if file in parents:
            found.append(parents[file])
        if isinstance(document, Environment):
            found += [fault for name, fault in environments if name == document.environment]
        if found:
            text = read_text(file)
            faults[file] += [f"{located(str(file), text, each.path)}: {each}" for each in found]
    return faults


def _load(file: Path) -> Document | None:
    """Load a file; its folder or its top-level keys say which kind it is.

    What all environments share is no environment itself.
    """
    text, name = read_text(file), str(file)
    if file.absolute().parent.name != "environments":
        is_contract = parse_yaml(text, name=name).keys() & {"contract", "endpoint", "schema"}
        model = CheckedContract if is_contract else Source
        return model.from_yaml(text, name=name, is_file=True)
    if file.stem != BASE:
        return load_environment(file.stem, folder=file.parent)
    check_base(file.parent)
    return None


def _parent_faults(loaded: Mapping[Path, Document]) -> dict[Path, Fault]:
    """Return what is wrong with the parents of contracts; they may be files next to them."""
    children = {file: d for file, d in loaded.items() if isinstance(d, Contract)}
    known = {each.contract: each for each in children.values()}
    unread = set()
    for file in {f.absolute().parent for f, d in children.items() if d.endpoint.parent}:
        for near in sorted(file.glob("*.yaml")) if file.name == "contracts" else ():
            if near.stem not in known:
                with suppress(InvalidContractError):
                    known[near.stem] = load_contract(read_text(near), name=near.name)
                    continue
                unread.add(near.stem)
    faults = family_faults(known.values(), unread)
    return {file: faults[d.contract] for file, d in children.items() if d.contract in faults}


def _place_faults(
    file: Path, document: Document, environments: Callable[[Path], dict[str, Environment]]
) -> Iterator[Fault]:
    """Yield what does not fit the place of a file: elsewhere it may have any name."""
    kind = "contract" if isinstance(document, Contract) else "source"
    folder = file.absolute().parent
    if isinstance(document, Environment):
        yield from missing_source_faults(document, _sources(folder.with_name("sources")))
        contracts = {each.stem for each in folder.with_name("contracts").glob("*.yaml")}
        yield from missing_contract_faults(document, contracts)
        return
    if folder.name != f"{kind}s":
        return
    fault = name_fault(document, kind, file.name)
    if fault:
        yield fault
    if isinstance(document, Source):
        yield from source_faults(document, environments(folder.with_name("environments")))
    else:
        yield from _source_faults(document, folder.with_name("sources"))


def _source_faults(contract: Contract, folder: Path) -> Iterator[Fault]:
    """Yield that a contract's source has no file, or does not fit it."""
    known = sorted(file.stem for file in folder.glob("*.yaml"))
    if contract.source not in known:
        close = get_close_matches(contract.source, known, n=1)
        there = (
            f"did you mean '{close[0]}'?" if close else f"there are {', '.join(known) or 'none'}"
        )
        yield Fault(("source",), f"there is no sources/{contract.source}.yaml; {there}")
        return
    with suppress(InvalidContractError):
        source = load_source(read_text(folder / f"{contract.source}.yaml"))
        if fault := address_fault(source, contract):
            yield fault


def _sources(folder: Path) -> list[Source]:
    """Return the sources of a project that load; the faults of the others are their own."""
    found = []
    for file in sorted(folder.glob("*.yaml")):
        with suppress(InvalidContractError):
            found.append(load_source(read_text(file), name=str(file)))
    return found


def _environments(folder: Path) -> dict[str, Environment]:
    """Return the environments of a project that load; the faults of the others are their own."""
    found = {}
    for name in environment_names(folder):
        with suppress(InvalidEnvironmentError):
            found[name] = load_environment(name, folder=folder)
    return found
