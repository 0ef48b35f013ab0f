"""The synthesised templates: made when their inputs change, read as one assembly."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakekit.project import product

INPUTS = ("cdk", "cdk.json", "glue_jobs", "lakekit", "lambdas", "pyproject.toml",
          "requirements.txt", "state_machines")  # fmt: skip
KEPT = 3


class SynthesisError(Exception):
    """CDK could not make the templates."""


@dataclass(frozen=True)
class Assembly:
    """Templates by stack name, where they deploy to, and the files of their assets."""

    folder: Path
    account: str
    region: str
    stacks: dict[str, dict[str, Any]]
    assets: dict[str, Path] = field(default_factory=dict)


def synthesise(root: Path, project: Path, cache: Path) -> Path:
    """Return the folder of the synthesised `dev` environment; the same inputs make it once.

    Args:
        root: Where Lakekit's own files are.
        project: The project whose environment it is.
        cache: Where the folder is made.
    """
    out = cache / digest(root, project)
    if (out / "manifest.json").is_file():
        return out
    part = out.with_name(f"{out.name}.{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    command = [sys.executable, "cdk/app.py", "--project", str(project.resolve()), "--environment",
               product.ENVIRONMENT, "--no-bundle"]  # fmt: skip
    done = subprocess.run(  # noqa: S603  our own program
        [*command, "--out", str(part.resolve())],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **product.cdk_variables(root)},
    )
    if done.returncode:
        raise SynthesisError(f"cdk/app.py failed:\n{done.stderr.strip()[-4000:]}")
    if not out.exists():
        part.rename(out)
    drop_old(cache)
    return out


def drop_old(cache: Path) -> None:
    """Keep only the newest assemblies."""
    folders = sorted(cache.iterdir(), key=lambda path: path.stat().st_mtime)
    for folder in folders[:-KEPT]:
        shutil.rmtree(folder, ignore_errors=True)


def digest(root: Path, project: Path) -> str:
    """Return a hash of all that the templates are made from."""
    total = hashlib.sha256()
    for name in (*INPUTS, "config"):
        # An installed package's copy of the others has no `lakekit`: that is the package itself.
        copied = name == "lakekit" and not (root / name).exists()
        top = product.PACKAGE.parent if copied else project if name == "config" else root
        path = top / name
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                total.update(f"{file.relative_to(top)}\0".encode() + file.read_bytes() + b"\0")
    return total.hexdigest()[:16]


def read_assembly(folder: Path) -> Assembly:
    """Read what `synthesise` made."""
    [nested] = folder.glob("assembly-*")
    artifacts = json.loads((nested / "manifest.json").read_text())["artifacts"]
    stacks, assets, places = {}, {}, set()
    for artifact in artifacts.values():
        if artifact["type"] == "aws:cloudformation:stack":
            name = artifact["properties"]["stackName"]
            stacks[name] = json.loads((nested / artifact["properties"]["templateFile"]).read_text())
            places.add(artifact["environment"].removeprefix("aws://"))
        elif artifact["type"] == "cdk:asset-manifest":
            assets.update(_assets(nested / artifact["properties"]["file"]))
    [place] = places
    account, region = place.split("/")
    return Assembly(folder, account, region, stacks, assets)


def _assets(manifest: Path) -> dict[str, Path]:
    found = {}
    for file in json.loads(manifest.read_text())["files"].values():
        for destination in file["destinations"].values():
            address = f"s3://{destination['bucketName']}/{destination['objectKey']}"
            found[address] = manifest.parent / file["source"]["path"]
    return found


def find_scripts(assembly: Assembly, root: Path) -> dict[str, Path]:
    """Return the repository's job script behind each script's address in the templates.

    The asset is a copy; the script in the repository is what a person edits and debugs.
    """
    ours = {path.read_bytes(): path for path in sorted((root / "glue_jobs").glob("*.py"))}
    scripts = {}
    for address, path in assembly.assets.items():
        if path.suffix == ".py" and path.is_file():
            scripts[address] = ours.get(path.read_bytes(), path)
    return scripts
