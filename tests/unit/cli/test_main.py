"""What `lakekit` says about itself."""

import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakekit.cli.main import app
from lakekit.sandbox import project

ROOT = Path(__file__).parents[3]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_a_checkout_shows_its_own_version_and_where_it_is() -> None:
    done = CliRunner().invoke(app, ["--version"])

    assert done.stdout == f"lakekit {VERSION} (checkout {ROOT})\n"
    assert done.exit_code == 0


def test_an_installed_package_shows_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "is_checkout", lambda: False)
    monkeypatch.setattr("lakekit.cli.main.version", lambda name: f"1.2 of {name}")

    assert CliRunner().invoke(app, ["--version"]).stdout == "lakekit 1.2 of lakekit\n"


def test_no_command_shows_the_help() -> None:
    assert "merge" in CliRunner().invoke(app, []).output
