"""`lakekit check`, in this process."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lakekit.cli.main import app

CONTRACT = Path("config/contracts/airports.yaml")
SOURCE = Path("config/sources/airports_api.yaml")


def check(*files: Path) -> Result:
    return CliRunner().invoke(app, ["check", *map(str, files)])


def test_says_ok_of_the_contracts_and_sources_of_this_repository() -> None:
    files = [*Path("config/sources").glob("*.yaml"), *Path("config/contracts").glob("*.yaml")]

    assert check(*files).stdout.splitlines() == [f"{file}: ok" for file in files]


@pytest.mark.parametrize(
    ("original", "old", "new", "fault"),
    [
        (SOURCE, "http://127.0.0.1:8080", "http://example.org", "base_url: must use https"),
        (SOURCE, "base_url:", "base_ur:", "base_url: Field required"),
        (CONTRACT, "contract: airports", "contrac: airports", "did you mean 'contract'"),
        (CONTRACT, "keys: [icao]", "keys: [nope]", "'nope' is not a column"),
        (CONTRACT, "keys: [icao]", "keys: [icao]\n  apply_as_deletes: icao", "icao is string, not"),
    ],
)
def test_reports_a_fault_in_the_words_of_the_files_kind(
    tmp_path: Path, original: Path, old: str, new: str, fault: str
) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(original.read_text().replace(old, new))

    result = check(SOURCE, bad)

    assert (result.exit_code, result.stdout) == (1, f"{SOURCE}: ok\n")
    assert fault in result.stderr


def test_prints_a_line_for_each_fault_of_a_contract(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    text = CONTRACT.read_text().replace("keys: [icao]", "keys: [nope, lat]\n  sequence_by: nope2")
    bad.write_text(text.replace("{name: iata, type: string", "{name: iata, type: strng"))

    assert check(bad).stderr.splitlines() == [
        f"{bad}: schema.1.type: 'strng' is not a Spark SQL type: 'strng' is unknown",
        f"{bad}: history.keys: 'nope' is not a column of the schema",
        f"{bad}: history.keys: 'lat' is double, which cannot be a key",
        f"{bad}: history.sequence_by: 'nope2' is not a column of the schema",
    ]


@pytest.mark.parametrize(
    ("original", "kind", "name"),
    [(CONTRACT, "contract", "airports"), (SOURCE, "source", "airports_api")],
)
def test_reports_a_name_by_which_no_run_finds_the_file(
    tmp_path: Path, original: Path, kind: str, name: str
) -> None:
    other = tmp_path / f"{kind}s" / f"{name}.yml"
    other.parent.mkdir()
    other.write_text(original.read_text())

    result = check(other)

    assert result.exit_code == 1
    assert result.stderr == (
        f"{other}: {kind}: is '{name}'; name the file {name}.yaml or change it\n"
    )


def test_a_file_outside_the_configuration_may_have_any_name(tmp_path: Path) -> None:
    other = tmp_path / "draft.yaml"
    other.write_text(CONTRACT.read_text())

    assert check(other).stdout == f"{other}: ok\n"


@pytest.mark.parametrize(
    ("history", "name", "clashes"),
    [
        ("keys: [id]", "orders_quarantine", True),
        ("keys: [id], sequence_by: at", "orders_journal", True),
        ("keys: [id]", "orders__rebuild", True),
        ("keys: [id]", "orders__rebuild_quarantine", True),
        ("keys: [id]", "other__rebuild", False),
        ("keys: [id]", "orders_journal", False),
        ("keys: [id], sequence_by: at", "other_journal", False),
    ],
)
def test_reports_a_contract_that_is_named_as_a_journal_or_quarantine_of_another_one(
    tmp_path: Path, history: str, name: str, clashes: bool
) -> None:
    text = (
        "contract: orders\nsource: shop\nendpoint: {path: /p}\n"
        "schema: [{name: id, type: int}, {name: at, type: timestamp}]\n"
    )
    one, other = tmp_path / "orders.yaml", tmp_path / "other.yaml"
    one.write_text(f"{text}history: {{{history}}}\n")
    other.write_text(one.read_text().replace("contract: orders", f"contract: {name}"))

    result = check(one, other)

    why = f"'{name}' is the name of a table that Lakekit derives from 'orders'; choose another name"
    assert result.stderr == (f"{other}: contract: {why}\n" if clashes else "")
    assert f"{one}: ok" in result.stdout


def test_reports_a_file_that_is_not_there() -> None:
    assert "No such file" in check(Path("nowhere.yaml")).stderr
