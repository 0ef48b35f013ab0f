import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lakekit.config.load import (
    check_contracts,
    default_folder,
    read_contracts,
    read_source,
    read_sources,
)
from lakekit.errors import InvalidContractError, UnknownSourceError

ROOT = Path(__file__).parents[3]
SOURCE = "source: {name}\nbase_url: https://a.org\n"
CONTRACT = (
    "contract: {name}\nsource: {source}\nendpoint: {{path: /e}}\n"
    "schema: [{{name: id, type: bigint}}]\nhistory: {{keys: [id]}}\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for kind in ("sources", "contracts"):
        (tmp_path / kind).mkdir()
    for name in ("b", "a"):
        (tmp_path / f"sources/{name}.yaml").write_text(SOURCE.format(name=name))
        text = CONTRACT.format(name=f"{name}_orders", source=name)
        (tmp_path / f"contracts/{name}_orders.yaml").write_text(text)
    return tmp_path


def test_reads_a_source_by_its_name(folder: Path) -> None:
    assert read_source(folder, "a").source == "a"
    assert [source.source for source in read_sources(folder)] == ["a", "b"]


def test_reads_the_contracts_of_one_source(folder: Path) -> None:
    assert [c.contract for c in read_contracts(folder, "b")] == ["b_orders"]
    assert [c.contract for c in read_contracts(folder)] == ["a_orders", "b_orders"]


def test_a_broken_contract_does_not_stop_another_source(folder: Path) -> None:
    (folder / "contracts/b_orders.yaml").write_text("source: b\nnonsense: 1\n")

    assert len(read_contracts(folder, "a")) == 1
    with pytest.raises(InvalidContractError, match=r"b_orders\.yaml:2:1: nonsense"):
        read_contracts(folder, "b")


def test_only_a_check_reads_conditions(folder: Path) -> None:
    file = folder / "contracts/b_orders.yaml"
    check_contracts(folder)
    file.write_text(file.read_text().replace("[id]}", "[id], apply_as_deletes: op = 'D'}"))

    assert len(read_contracts(folder)) == 2
    with pytest.raises(InvalidContractError, match=r"b_orders\.yaml:5:23: .* 'op' is not a column"):
        check_contracts(folder)


@pytest.mark.parametrize("name", ["c", "../a", "a.yaml", ""])
def test_says_which_source_is_unknown(folder: Path, name: str) -> None:
    with pytest.raises(UnknownSourceError, match="there is no sources/"):
        read_source(folder, name)


def test_refuses_a_file_that_is_not_named_as_what_it_holds(folder: Path) -> None:
    (folder / "sources/c.yaml").write_text(SOURCE.format(name="d"))

    with pytest.raises(InvalidContractError, match=r"name the file d\.yaml"):
        read_source(folder, "c")


def test_names_the_faults_of_all_files_at_once(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / f"sources/{name}.yaml").write_text(f"source: {name}\n")

    with pytest.raises(
        InvalidContractError, match=r"(?s)a\.yaml:1:1: base_url.*b\.yaml:1:1: base_url"
    ):
        read_sources(folder)


def test_the_repository_has_its_configuration_next_to_the_package() -> None:
    assert "airports" in [c.contract for c in read_contracts(default_folder())]


def test_finds_its_configuration_inside_a_zip(tmp_path: Path, folder: Path) -> None:
    archive = tmp_path / "library.zip"
    with zipfile.ZipFile(archive, "w") as bundle:
        for path in (ROOT / "lakekit").rglob("*.py"):
            bundle.write(path, path.relative_to(ROOT))
        for path in folder.rglob("*.yaml"):
            bundle.write(path, f"config/{path.relative_to(folder)}")
    code = (
        "from lakekit.config import load as c; print(c.read_source(c.default_folder(), 'a').source)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(archive)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.strip() == "a", done.stderr
