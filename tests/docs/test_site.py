"""The site: its pages of reference are complete, and every link of it leads somewhere."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from lakekit import errors
from lakekit.cli.main import app
from lakekit.models import Model
from tests.docs.pages import ROOT
from tools.site import reference
from tools.site.slugs import slug

CONFIG = ROOT / "tools/site/mkdocs.yml"


def commands(group: Any, path: str = "lakekit") -> list[str]:
    found = []
    for name, command in group.commands.items():
        found.append(f"{path} {name}")
        if hasattr(command, "commands"):
            found += commands(command, f"{path} {name}")
    return found


def test_every_command_has_a_section() -> None:
    text = reference.commands()

    for command in commands(typer.main.get_command(app)):
        assert f"`{command}`\n" in text


@pytest.mark.parametrize(("name", "model"), [(n, m) for n, (m, _) in reference.FILES.items()])
def test_every_field_of_a_file_has_a_line(name: str, model: type[Model]) -> None:
    text = reference.fields(name, model, "")

    for field, found in model.model_fields.items():
        assert f"| `{found.alias or field}` |" in text


def test_every_error_has_a_line() -> None:
    text = reference.error_tree()

    for error in ("SourceThrottledError", "LateExtractError"):
        assert f"| `{error}` |" in text
    assert text.count("| yes |") == len(_below(errors.TransientError)) + 1 - len(
        [each for each in _below(errors.TransientError) if each.startswith("_")]
    )


def test_a_page_that_the_menu_names_is_in_the_repository_or_written() -> None:
    written = {f"docs/reference/{name}" for name, _ in reference.pages()}
    text = CONFIG.read_text().replace("!!python/name:", "")

    for page in _pages(yaml.safe_load(text)["nav"]):
        assert page in written or (ROOT / page.removesuffix("index.md")).exists(), page


def test_an_anchor_is_that_of_the_repositorys_host() -> None:
    assert slug("What `a` month costs, in 2026", "-") == "what-a-month-costs-in-2026"


@pytest.mark.long
def test_the_site_builds_and_no_link_leads_nowhere() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.site.build"], cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip

    assert not done.returncode, done.stderr
    pages = [*Path(done.stdout.strip().removeprefix("file://")).parent.rglob("*.html")]
    assert len(pages) > 50
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert 'src="http' not in text
        assert '<link rel="stylesheet" href="http' not in text


def _below(kind: type[Exception]) -> list[str]:
    return [name for each in kind.__subclasses__() for name in (each.__name__, *_below(each))]


def _pages(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    values = nav.values() if isinstance(nav, dict) else nav
    return [page for value in values for page in _pages(value)]
