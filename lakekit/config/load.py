"""Finds and loads the files of a configuration folder: `sources/` and `contracts/`."""

from collections.abc import Collection, Iterable, Iterator
from importlib.resources.abc import Traversable
from typing import TypeVar

from lakekit import layout
from lakekit.config.schedule import Schedule
from lakekit.config.source import Source
from lakekit.contract.checked import CheckedContract
from lakekit.contract.contract import Contract
from lakekit.contract.families import family_faults
from lakekit.errors import InvalidContractError, UnknownSourceError
from lakekit.models import Fault, FileModel, located, parse_yaml

File = TypeVar("File", bound=FileModel)


def read_source(folder: Traversable, name: str) -> Source:
    """Read `sources/{name}.yaml`.

    Raises:
        UnknownSourceError: There is no such file.
        InvalidContractError: It does not load, or says another name.
    """
    for file in _yaml_files(folder, "sources"):
        if file.name == f"{name}.yaml":
            return _named(_load(Source, file), "source", file)
    raise UnknownSourceError(f"there is no sources/{name}.yaml")


def read_sources(folder: Traversable, environment: str | None = None) -> tuple[Source, ...]:
    """Read all sources, by name, or those that an environment has.

    See `read_source` for errors, of all files at once.
    """
    found = _read_all(Source, "source", list(_yaml_files(folder, "sources")))
    if environment is None:
        return found
    return tuple(each for each in found if each.is_deployed_to(environment))


def read_schedules(folder: Traversable, environment: str) -> dict[str, Schedule]:
    """Read the schedules of an environment, by source; see `read_sources` for errors."""
    sources = read_sources(folder, environment)
    return {each.source: each.schedule for each in sources if each.schedule}


def read_contracts(folder: Traversable, source: str | None = None) -> tuple[Contract, ...]:
    """Read all contracts, or those of one source, by name.

    A fault in a contract of another source is not looked for: it must not stop this one.

    Raises:
        InvalidContractError: With one line per fault, of all files at once.
    """
    return _read_all(Contract, "contract", _contract_files(folder, source))


def read_tables(folder: Traversable, sources: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the names of the tables of each of some sources that there are."""
    known = {file.name.removesuffix(".yaml") for file in _yaml_files(folder, "sources")}
    return {
        source: tuple(each.contract for each in read_contracts(folder, source))
        for source in sorted(known & {*sources})
    }


def contract_names(folder: Traversable) -> list[str]:
    """Return the names of all contracts: those of their files."""
    return [file.name.removesuffix(".yaml") for file in _yaml_files(folder, "contracts")]


def check_contracts(folder: Traversable, source: str | None = None) -> None:
    """Read all contracts, and check their parents, sources, and what only a parser of SQL can.

    See `read_contracts` for errors.
    """
    contracts = _read_all(CheckedContract, "contract", _contract_files(folder, source))
    sources = {each.source: each for each in read_sources(folder)}
    faults = [*family_faults(contracts).items()]
    faults += [
        (each.contract, fault)
        for each in contracts
        if each.source in sources and (fault := address_fault(sources[each.source], each))
    ]
    if faults:
        raise InvalidContractError("\n".join(f"{name}.yaml: {fault}" for name, fault in faults))


def address_fault(source: Source, contract: Contract) -> Fault | None:
    """Return what is wrong if only one of a source and its contract says what is asked for."""
    has_path = contract.endpoint.path is not None
    if has_path == (source.base_url is not None):
        return None
    if has_path:
        must = f"the source {source.source} has no base_url, so files alone; leave out the path"
    else:
        must = f"is missing: the source {source.source} has a base_url, so it is asked"
    return Fault(("endpoint", "path"), must)


def name_fault(document: FileModel, field: str, file_name: str) -> Fault | None:
    """Return what is wrong with a file's name: by its name a run finds it."""
    name = getattr(document, field)
    if file_name == f"{name}.yaml":
        return None
    return Fault((field,), f"is '{name}'; name the file {name}.yaml or change it")


def derived_name_faults(contracts: Iterable[Contract]) -> dict[str, Fault]:
    """Return the faults of contracts that are named as a table that is derived from another one."""
    known = {contract.contract: contract for contract in contracts}
    owners = {layout.quarantine_table(name): name for name in known}
    owners |= {
        layout.journal_table(n): n for n, each in known.items() if each.history.keeps_journal
    }
    owners |= {shadow: name for name in known for shadow in layout.shadow_tables(name)}
    return {
        name: Fault(
            ("contract",),
            f"'{name}' is the name of a table that Lakekit derives from '{owners[name]}'; "
            "choose another name",
        )
        for name in known.keys() & owners.keys()
    }


def _read_all(model: type[File], field: str, found: list[Traversable]) -> tuple[File, ...]:
    loaded, faults = [], []
    for file in found:
        try:
            loaded.append(_named(_load(model, file), field, file))
        except InvalidContractError as error:
            faults.append(str(error))
    if faults:
        raise InvalidContractError("\n".join(faults))
    return tuple(loaded)


def _yaml_files(folder: Traversable, kind: str) -> Iterator[Traversable]:
    place = folder / kind
    if place.is_dir():
        yield from sorted(
            (file for file in place.iterdir() if file.name.endswith(".yaml")),
            key=lambda file: file.name,
        )


def _contract_files(folder: Traversable, source: str | None) -> list[Traversable]:
    found = _yaml_files(folder, "contracts")
    return [file for file in found if source is None or _is_of(file, source)]


def _load(model: type[File], file: Traversable) -> File:
    return model.from_yaml(file.read_text(encoding="utf-8"), name=file.name, is_file=True)


def _named(document: File, field: str, file: Traversable) -> File:
    if fault := name_fault(document, field, file.name):
        text = file.read_text(encoding="utf-8")
        raise InvalidContractError(f"{located(file.name, text, fault.path)}: {fault}")
    return document


def _is_of(file: Traversable, source: str) -> bool:
    text = file.read_text(encoding="utf-8")
    # Parsed only if it may be: of a thousand files that would take most of a function's time.
    may_be = source in text or "\\" in text
    return may_be and parse_yaml(text, name=file.name).get("source") == source
