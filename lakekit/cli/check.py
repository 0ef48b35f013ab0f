"""What is wrong with contracts, sources and environments: each alone, and among the others."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from lakekit.config.deployment import environment_faults, source_faults
from lakekit.config.environment import (
    BASE,
    Environment,
    check_base,
    environment_names,
    load_environment,
)
from lakekit.config.load import derived_name_faults, name_fault
from lakekit.config.source import Source
from lakekit.contract.checked import CheckedContract
from lakekit.contract.contract import Contract
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
    environments = environment_faults(d for d in loaded.values() if isinstance(d, Environment))
    around = cache(_environments)
    for file, document in loaded.items():
        found = list(_place_faults(file, document, around))
        if isinstance(document, Contract) and document.contract in contracts:
            found.append(contracts[document.contract])
        if isinstance(document, Environment) and document.environment in environments:
            found.append(environments[document.environment])
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


def _place_faults(
    file: Path, document: Document, environments: Callable[[Path], dict[str, Environment]]
) -> Iterator[Fault]:
    """Yield what does not fit the place of a file: elsewhere it may have any name."""
    kind = "contract" if isinstance(document, Contract) else "source"
    folder = file.absolute().parent
    if isinstance(document, Environment) or folder.name != f"{kind}s":
        return
    fault = name_fault(document, kind, file.name)
    if fault:
        yield fault
    if isinstance(document, Source):
        yield from source_faults(document, environments(folder.with_name("environments")))
    else:
        yield from _source_of_faults(document, folder.with_name("sources"))


def _source_of_faults(contract: Contract, folder: Path) -> Iterator[Fault]:
    """Yield that a contract's source has no file next to the contracts."""
    known = sorted(file.stem for file in folder.glob("*.yaml"))
    if contract.source not in known:
        close = get_close_matches(contract.source, known, n=1)
        there = (
            f"did you mean '{close[0]}'?" if close else f"there are {', '.join(known) or 'none'}"
        )
        yield Fault(("source",), f"there is no sources/{contract.source}.yaml; {there}")


def _environments(folder: Path) -> dict[str, Environment]:
    """Return the environments of a project that load; the faults of the others are their own."""
    found = {}
    for name in environment_names(folder):
        with suppress(InvalidEnvironmentError):
            found[name] = load_environment(name, folder=folder)
    return found
