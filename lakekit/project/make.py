"""A new project: the files of a template, none of which replaces one that is there."""

import re
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from lakekit.errors import InvalidStepInputError
from lakekit.project.schemas import MODELS, schema_text

# Where a file of the template goes, if not to its own name.
_PLACES = {
    "gitignore": ".gitignore",
    "deploy.yml": ".github/workflows/deploy.yml",
    "workflow.yml": ".github/workflows/lakekit.yml",
}
_EMPTY = ("config/contracts/.gitkeep", "config/sources/.gitkeep")


@dataclass(frozen=True)
class Made:
    """What was written, and what was there before and is as it was."""

    written: tuple[str, ...]
    kept: tuple[str, ...]


def make_project(folder: Path, *, version: str) -> Made:
    """Write the files of a project that are not there yet.

    Args:
        folder: Made if it is absent; its name is the project's.
        version: The release of Lakekit that the project is pinned to.

    Raises:
        InvalidStepInputError: Something else is where a folder must be.
        OSError: It cannot be written.
    """
    written, kept = [], []
    for name, text in _texts(_name(folder), version).items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InvalidStepInputError(
                f"{path.parent}: is a file; a folder must be here"
            ) from None
        try:
            with path.open("x", encoding="utf-8") as stream:
                stream.write(text)
        except FileExistsError:
            kept.append(name)
        else:
            written.append(name)
    return Made(tuple(written), tuple(kept))


def _texts(name: str, version: str) -> dict[str, str]:
    template = files("lakekit.project") / "template"
    found = dict.fromkeys(_EMPTY, "")
    for path, file in _files(template):
        text = file.read_text(encoding="utf-8")
        text = text.replace("{name}", name).replace("{version}", version)
        found[_PLACES.get(path, path)] = text
    schemas = {f"config/schemas/{kind}.json": schema_text(kind) for kind in MODELS}
    return dict(sorted((found | schemas).items()))


def _files(folder: Traversable, prefix: str = "") -> list[tuple[str, Traversable]]:
    found = []
    for each in folder.iterdir():
        if each.is_dir():
            found += _files(each, f"{prefix}{each.name}/")
        else:
            found.append((f"{prefix}{each.name}", each))
    return found


def _name(folder: Path) -> str:
    """Return a folder's name as a tag can have it."""
    return re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-") or "project"
