"""Where Lakekit's own files are, in a checkout and in an installed package."""

import os
from pathlib import Path

import pytest

from lakekit.errors import InvalidStepInputError
from lakekit.project import product

ROOT = Path(__file__).parents[3]


def test_a_checkout_is_its_own_root() -> None:
    assert product.is_checkout()
    assert product.root() == ROOT
    assert product.search_path(ROOT) == str(ROOT)


def test_an_installed_package_takes_its_copy_and_is_itself_on_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cdk").mkdir()
    (tmp_path / "cdk/app.py").touch()
    monkeypatch.setattr(product, "_PACKAGED", tmp_path)

    assert not product.is_checkout()
    assert product.root() == tmp_path
    assert product.search_path(tmp_path) == f"{tmp_path}{os.pathsep}{ROOT}"


def test_a_project_has_the_examples_secret_if_it_has_its_source(tmp_path: Path) -> None:
    source = tmp_path / f"config/sources/{product.EXAMPLE}.yaml"
    source.parent.mkdir(parents=True)
    source.write_text(
        f"source: {product.EXAMPLE}\nbase_url: http://127.0.0.1\n"
        "auth: {type: bearer, secret: 'lakekit/{environment}/airports_api'}\n"
    )

    assert product.example_secrets(tmp_path, "k") == {"lakekit/dev/airports_api": "k"}
    assert product.example_secrets(tmp_path / "config", "k") is None


def test_a_copy_without_those_files_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(product, "_PACKAGED", tmp_path)

    with pytest.raises(InvalidStepInputError, match="reinstall lakekit"):
        product.root()
