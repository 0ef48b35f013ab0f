"""What is wrong with contracts and sources: each alone, by its place, and among the others."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from lakekit.config.load import derived_name_faults, name_fault
from lakekit.config.source import Source, load_source
from lakekit.contract.checked import CheckedContract
from lakekit.contract.contract import Contract
from lakekit.errors import InvalidContractError
from lakekit.local.warehouse import read_text
from lakekit.models import Fault, parse_yaml


def check_files(files: Iterable[Path]) -> dict[Path, list[str]]:
    """Return a line for each fault of each file; none for one that holds."""
    faults: dict[Path, list[str]] = {file: [] for file in files}
    loaded: dict[Path, Contract | Source] = {}
    for file in faults:
        try:
            loaded[file] = _load(file)
        except InvalidContractError as error:
            faults[file] = str(error).splitlines()
    clashes = derived_name_faults(each for each in loaded.values() if isinstance(each, Contract))
    for file, document in loaded.items():
        faults[file] += [f"{file}: {fault}" for fault in _place_faults(file, document, clashes)]
    return faults


def _load(file: Path) -> Contract | Source:
    """Load a file; its top-level keys say which kind it is."""
    text, name = read_text(file), str(file)
    is_contract = parse_yaml(text, name=name).keys() & {"contract", "endpoint", "schema"}
    return (CheckedContract.from_yaml if is_contract else load_source)(text, name=name)


def _place_faults(
    file: Path, document: Contract | Source, clashes: dict[str, Fault]
) -> Iterator[Fault]:
    kind = "contract" if isinstance(document, Contract) else "source"
    # Elsewhere a file may have any name: only in these folders is it found by it.
    if file.absolute().parent.name == f"{kind}s":
        fault = name_fault(document, kind, file.name)
        if fault:
            yield fault
    if isinstance(document, Contract) and document.contract in clashes:
        yield clashes[document.contract]
