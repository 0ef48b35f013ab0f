"""What is wrong with contracts, sources and environments: each alone, and among the others."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from lakekit.config.deployment import (
    environment_faults,
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
from lakekit.config.load import derived_name_faults, name_fault
from lakekit.config.source import Source, load_source
from lakekit.contract.checked import CheckedContract
from lakekit.contract.contract import Contract
from lakekit.errors import InvalidContractError, InvalidEnvironmentError
from lakekit.local.warehouse import read_text
from lakekit.models import Fault, parse_yaml

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
        if isinstance(document, Environment):
            found += [fault for name, fault in environments if name == document.environment]
        faults[file] += [f"{file}: {fault}" for fault in found]
    return faults


def _load(file: Path) -> Document | None:
    """Load a file; its folder or its top-level keys say which kind it is.

    What all environments share is no environment itself.
    """
    text, name = read_text(file), str(file)
    if file.absolute().parent.name != "environments":
        is_contract = parse_yaml(text, name=name).keys() & {"contract", "endpoint", "schema"}
        return (CheckedContract.from_yaml if is_contract else load_source)(text, name=name)
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
    if isinstance(document, Environment):
        yield from missing_source_faults(document, _sources(folder.with_name("sources")))
        return
    if folder.name != f"{kind}s":
        return
    fault = name_fault(document, kind, file.name)
    if fault:
        yield fault
    if isinstance(document, Source):
        yield from source_faults(document, environments(folder.with_name("environments")))


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
