"""Packages of functions and jobs, made with pip for the target platform; no Docker."""

import hashlib
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, IgnoreMode, ILocalBundling
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from cdk.constructs.locked import locked_file
from lakekit import layout

SOURCES = ("lakekit", "lambdas")
# The rooms of `lakekit` that no function and no job needs: they are for a person's machine.
LAPTOP = ("cli", "exports", "local", "operate", "project", "sandbox", "warehouse")
PYTHON = "3.11"
PLATFORM = ("--platform", "manylinux2014_x86_64", "--only-binary", ":all:")
# The lock names all that is needed; what does not have the hash that it names is refused.
LOCKED = ("--disable-pip-version-check", "--python-version", PYTHON, *PLATFORM,
          "--no-deps", "--require-hashes")  # fmt: skip
NO_CACHES = shutil.ignore_patterns("__pycache__", "*.pyc")


@jsii.implements(ILocalBundling)
class PipBundle:
    """Our sources with the packages that `pyproject.toml` asks for."""

    def __init__(self, root: Path, extras: tuple[str, ...]) -> None:
        self.root = root
        self.extras = extras

    def try_bundle(self, output_dir: str, *args: object, **options: object) -> bool:
        """Fill the folder; a failing pip ends the synthesis."""
        out = Path(output_dir)
        needs = out / ".requirements.txt"
        needs.write_text(locked_file(self.root, wanted(self.root, self.extras)))
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile",
                   "--target", str(out), *LOCKED, "-r", str(needs)]  # fmt: skip
        subprocess.run(command, check=True, stdout=sys.stderr)  # noqa: S603
        needs.unlink()
        for folder in SOURCES:
            shutil.copytree(
                place(self.root, folder), out / folder, ignore=_left_out, dirs_exist_ok=True
            )
        return True


def place(root: Path, folder: str) -> Path:
    """Return where a folder of sources is.

    An installed package's copy of the other folders has no `lakekit`: that is the package itself.
    """
    own = root / folder
    return own if own.is_dir() else Path(layout.__file__).parent


def wanted(root: Path, extras: tuple[str, ...]) -> list[str]:
    """Return the requirements of all functions and jobs, and those of some extras."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    return [need for extra in ("core", *extras) for need in optional[extra]]


def digest(root: Path, extras: tuple[str, ...]) -> str:
    """Return a hash of all that goes in; the same commit gives the same template."""
    total = hashlib.sha256(" ".join(extras).encode())
    files = [root / "pyproject.toml", root / "requirements.txt"]
    named = {file.name: file for file in files}
    for folder in SOURCES:
        found = sorted(p for p in place(root, folder).rglob("*") if p.is_file())
        named |= {f"{folder}/{p.relative_to(place(root, folder))}": p for p in found}
    for name, path in named.items():
        room = name.split("/")[:2]
        laptop = room[0] == "lakekit" and room[-1] in LAPTOP
        if "__pycache__" not in path.parts and not laptop:
            total.update(f"{name}\0".encode() + path.read_bytes())
    return total.hexdigest()


def function_code(scope: Construct, root: Path, extras: tuple[str, ...]) -> lambda_.Code:
    """Return a function's code; with the context `bundle` false, the sources alone."""
    if not scope.node.try_get_context("bundle"):
        return lambda_.Code.from_asset(str(root), exclude=only(SOURCES), ignore_mode=IgnoreMode.GIT)
    return lambda_.Code.from_asset(
        str(root),
        asset_hash=digest(root, extras),
        asset_hash_type=AssetHashType.CUSTOM,
        bundling=BundlingOptions(
            image=DockerImage.from_registry("never-used"), local=PipBundle(root, extras)
        ),
    )


def library(scope: Construct, root: Path) -> assets.Asset:
    """Return the core package as a zip that Python can import."""
    return assets.Asset(
        scope,
        "library",
        path=str(place(root, "lakekit").parent),
        exclude=only(("lakekit",)),
        ignore_mode=IgnoreMode.GIT,
    )


def only(folders: tuple[str, ...]) -> list[str]:
    """Return the ignore patterns that leave nothing but these folders."""
    laptop = [f"/lakekit/{room}" for room in LAPTOP]
    return ["/*", *(f"!/{folder}" for folder in folders), *laptop, "__pycache__", "*.pyc"]


def _left_out(folder: str, names: list[str]) -> set[str]:
    """Name what `copytree` leaves out of a folder."""
    laptop = LAPTOP if Path(folder).name == "lakekit" else ()
    return {*NO_CACHES(folder, names), *laptop}
