"""What `lakekit` says about itself."""

import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakekit.cli.main import _faults_as_exit_code, app
from lakekit.errors import InvalidStepInputError, LakekitError
from lakekit.project import product as project

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


def test_reversed_times_are_refused_before_anything_is_read() -> None:
    late, early = "2026-01-02T00:00:00+02:00", "2026-01-01T00:00:00Z"
    done = CliRunner().invoke(app, ["changes", "people", late, early, "--warehouse", "none"])

    assert isinstance(done.exception, InvalidStepInputError)
    assert "the first time is after the second" in str(done.exception)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (LakekitError("see [/b]\x1b[2J"), "LakekitError: see [/b]\\x1b[2J\n"),
        (
            PermissionError(13, "Permission denied", "/w"),
            "PermissionError: /w: Permission denied\n",
        ),
        (OSError(28, "No space left on device"), "OSError: No space left on device\n"),
    ],
)
def test_an_error_is_one_line(
    error: Exception, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end, _faults_as_exit_code():
        raise error

    assert end.value.code == 1
    assert capsys.readouterr().err == line


def test_no_command_shows_the_help() -> None:
    assert "merge" in CliRunner().invoke(app, []).output
