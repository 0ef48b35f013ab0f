import json
from pathlib import Path

import pytest

from lakekit.config.deployment import load_deployment
from lakekit.errors import InvalidStepInputError
from lakekit.project.folder import open_project
from lakekit.project.make import make_project

FILES = {
    ".github/workflows/deploy.yml", ".github/workflows/lakekit.yml", ".gitignore", "README.md",
    "cdk.json",
    "config/contracts/.gitkeep", "config/environments/base.yaml", "config/environments/dev.yaml",
    "config/environments/prod.yaml", "config/schemas/contract.json",
    "config/schemas/environment.json", "config/schemas/source.json", "config/sources/.gitkeep",
    "requirements.txt", "secrets.yaml",
}  # fmt: skip


def test_a_new_project_loads_and_is_pinned_to_its_release(tmp_path: Path) -> None:
    made = make_project(tmp_path / "My Shop", version="1.2.3")

    project = open_project(tmp_path / "My Shop")
    environments, sources = load_deployment(project.config)
    assert {*made.written} == FILES
    assert (list(environments), sources) == (["dev", "prod"], ())
    assert environments["dev"].tags.project == "my-shop"
    assert (project.folder / "requirements.txt").read_text() == "lakekit[cdk,sandbox]==1.2.3\n"
    assert json.loads((project.folder / "cdk.json").read_text())["app"] == "lakekit synth"
    assert project.secrets() == {}


def test_git_ignores_secrets_and_what_runs_leave(tmp_path: Path) -> None:
    make_project(tmp_path, version="1")

    ignored = (tmp_path / ".gitignore").read_text().splitlines()
    own = {"/secrets.yaml", "/warehouse/", "/build/", "/cdk.out/", "/lakekit-report.html"}
    assert own <= {*ignored}


def test_a_second_time_writes_nothing_and_says_so(tmp_path: Path) -> None:
    make_project(tmp_path, version="1")
    (tmp_path / "README.md").write_text("ours")

    again = make_project(tmp_path, version="2")

    assert again.written == ()
    assert {*again.kept} == FILES
    assert (tmp_path / "README.md").read_text() == "ours"


def test_what_is_missing_is_written_and_what_is_there_kept(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("ours")

    made = make_project(tmp_path, version="1")

    assert made.kept == (".gitignore",)
    assert (tmp_path / ".gitignore").read_text() == "ours"


def test_a_file_where_a_folder_must_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("")

    with pytest.raises(InvalidStepInputError, match=r"config.*: is a file"):
        make_project(tmp_path, version="1")
