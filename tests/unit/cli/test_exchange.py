"""The commands that export and import: their folder, their choices, their errors."""

import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from lakekit.cli.main import app
from lakekit.errors import LakekitError

ROOT = Path(__file__).parents[3]


def call(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project of the example, and work in it."""
    shutil.copytree(ROOT / "examples/airports/config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "config"


def test_an_exported_contract_is_imported_as_it_was(config: Path) -> None:
    contract = config / "contracts/airports.yaml"
    before = yaml.safe_load(contract.read_text())
    (config / "a.odcs.yaml").write_text(call("export", "odcs", "airports").stdout)
    again = call("import", "odcs", str(config / "a.odcs.yaml"))
    contract.unlink()

    done = call("import", "odcs", str(config / "a.odcs.yaml"))

    assert "is there already" in str(again.exception)
    assert done.stdout == f"wrote {contract}\n"
    assert yaml.safe_load(contract.read_text()) == before


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("dbt", "--environment", "dve"), "has no environment 'dve'; there are dev, prod, staging"),
        (("dbt", "airport", "--environment", "dev"), "did you mean airports? there are airports"),
        (("bi", "airports", "--environment", "prod"), "its source airports_api is not in prod"),
        (("odcs", "airport"), "no contract 'airport'; did you mean airports?"),
    ],
)
def test_what_is_not_there_names_what_there_is(
    config: Path, words: tuple[str, ...], fault: str
) -> None:
    result = call("export", *words)

    assert isinstance(result.exception, LakekitError)
    assert fault in str(result.exception)


def test_a_project_without_contracts_is_named(config: Path) -> None:
    (config / "contracts/airports.yaml").unlink()

    result = call("export", "odcs", "airports")

    assert str(result.exception) == f"{config}/contracts: no contract is there"


@pytest.mark.parametrize(
    ("words", "begin"),
    [
        (("dbt", "--environment", "dev"), "version: 2\nsources:\n"),
        (("dbt", "airports", "--environment", "dev"), "version: 2\nsources:\n"),
        (("odcs", "airports", "--environment", "dev"), "kind: DataContract\n"),
        (("bi", "--environment", "dev"), "# Tables of dev for Power BI and QuickSight\n"),
    ],
)
def test_the_commands_of_the_page_print(config: Path, words: tuple[str, ...], begin: str) -> None:
    page = (ROOT / "docs/exports.md").read_text()

    result = call("export", *words)

    assert f"lakekit export {' '.join(words)}" in page
    assert result.stdout.startswith(begin)
