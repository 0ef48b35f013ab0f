"""What `lakekit` says about itself."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakekit.cli.commands import COMMANDS, load_command
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


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["histroy", "people"], "Did you mean 'history'"),
        (["sandbox", "upp"], "Did you mean 'up'?"),
        (["tables", "--formt", "json"], "--format"),
    ],
)
def test_a_word_that_is_misspelt_gets_the_nearest_one(words: list[str], nearest: str) -> None:
    done = CliRunner().invoke(app, words)

    assert done.exit_code == 2
    assert nearest in " ".join(done.stderr.replace("│", "").split())


def test_no_command_shows_the_help() -> None:
    assert "merge" in CliRunner().invoke(app, []).output


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_where_the_table_of_commands_says(name: str) -> None:
    assert load_command(name).name == name


def test_the_help_has_a_line_for_each_command_in_a_terminal_of_80_columns() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}).output

    lines = [" ".join(line.strip("│ ").split()) for line in shown.splitlines()]
    assert [f"{name} {entry.summary}" for name, entry in COMMANDS.items()] == [
        line for line in lines if line.partition(" ")[0] in COMMANDS
    ]


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (["run"], "lakekit run [OPTIONS] {SOURCE}"),
        (["runs", "watch"], "lakekit runs watch [OPTIONS] [RUN]"),
        (["export", "bi"], "lakekit export bi [OPTIONS] [TABLES]..."),
    ],
)
def test_arguments_have_names_and_no_types_of_python(words: list[str], usage: str) -> None:
    shown = CliRunner().invoke(app, [*words, "--help"], prog_name="lakekit").stdout

    assert usage in shown
    assert "<" not in shown


def test_the_help_imports_no_command() -> None:
    code = (
        "import sys; from lakekit.cli.main import app; app(['--help'], standalone_mode=False); "
        "found = {'pydantic', 'duckdb', 'lakekit.config', 'lakekit.contract'} & {*sys.modules}; "
        "sys.exit(str(found) if found else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
