"""Where the project's files are, in a checkout and in an installed package."""

import os
from pathlib import Path

import pytest

from lakekit.errors import InvalidStepInputError
from lakekit.sandbox import project

ROOT = Path(__file__).parents[3]


def test_a_checkout_is_its_own_root() -> None:
    assert project.is_checkout()
    assert project.root() == ROOT
    assert project.search_path(ROOT) == str(ROOT)


def test_an_installed_package_takes_its_copy_and_is_itself_on_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cdk").mkdir()
    (tmp_path / "cdk/app.py").touch()
    monkeypatch.setattr(project, "_PACKAGED", tmp_path)

    assert not project.is_checkout()
    assert project.root() == tmp_path
    assert project.search_path(tmp_path) == f"{tmp_path}{os.pathsep}{ROOT}"


def test_the_example_has_a_secret_while_its_source_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert project.example_secrets("k") == {"lakekit/dev/airports_api": "k"}

    monkeypatch.setattr(project, "root", lambda: tmp_path)
    assert project.example_secrets("k") is None


def test_a_copy_without_the_project_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(project, "_PACKAGED", tmp_path)

    with pytest.raises(InvalidStepInputError, match="reinstall lakekit"):
        project.root()
