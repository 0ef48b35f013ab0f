"""`lakekit init`, `check`, `schema` and `synth`."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

import typer

from lakekit.cli.check import check_files
from lakekit.cli.output import say, write
from lakekit.cli.project import place
from lakekit.errors import InvalidStepInputError
from lakekit.project import product
from lakekit.project.folder import Project, find_project
from lakekit.project.make import make_project
from lakekit.project.schemas import schema_text, write_schemas

OUT = "cdk.out"
# Lets the CDK CLI know that it is not the one who calls; see `synth`.
CALLED_BY_CDK = "CDK_OUTDIR"


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Made if it is absent.")] = Path(),
) -> None:
    """Make a project: a folder with what you write, and what runs and deploys it.

    Files that are there already stay as they are.

    Example: lakekit init shop
    """
    above = find_project(folder)
    if above and above.folder != folder.resolve():
        raise InvalidStepInputError(
            f"{folder}: is inside the project {above.folder}; make a project elsewhere"
        )
    made = make_project(folder, version=version("lakekit"))
    for name in made.written:
        say(f"wrote  {folder / name}")
    for name in made.kept:
        say(f"kept   {folder / name}")
    if not made.written:
        say(f"{folder.resolve()} is a project already; nothing was written", err=True)
        return
    say("next: lakekit add-source URL, in this folder, then lakekit run SOURCE", err=True)


def check(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Contracts, sources, environments.")
    ] = None,
) -> None:
    """Validate contracts, sources and environments and report all their faults.

    Without files: all those of the project.

    Example: lakekit check
    """
    given = files or list(_own_files(place.required()))
    faults = check_files(given)
    for file, lines in faults.items():
        say("\n".join(lines) or f"{file}: ok", err=bool(lines))
    if any(faults.values()):
        raise typer.Exit(1)


def schema(
    kind: Annotated[
        Literal["contract", "environment", "source"] | None,
        typer.Argument(help="Print the schema of one kind instead."),
    ] = None,
) -> None:
    """Write the JSON Schemas of this release into the project, where editors look for them.

    Example: lakekit schema

    Example: lakekit schema contract
    """
    if kind:
        write(schema_text(kind))
        return
    for file in write_schemas(place.required().config):
        say(f"wrote {file}")


def synth(
    environment: Annotated[
        list[str] | None, typer.Option(help="Only this one; may be repeated.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the templates; cdk.out in the project.")
    ] = None,
    bundle: Annotated[
        bool, typer.Option("--bundle/--no-bundle", help="With the packages of functions and jobs.")
    ] = True,
    pipeline: Annotated[
        bool, typer.Option("--pipeline", help="The pipeline that deploys, in their place.")
    ] = False,
) -> None:
    """Write the CloudFormation templates and packages of a project.

    The CDK CLI calls it too, by the cdk.json of the project. It needs neither that CLI nor Docker.

    Example: lakekit synth --environment dev
    """
    project = place.required()
    product.require("aws_cdk", "cdk")
    wanted = os.environ.get(CALLED_BY_CDK)
    by_cli = wanted is not None and out is None
    # The CLI names a folder below the one where it was called, and the app has another one.
    target = Path(wanted if wanted and by_cli else out or project.folder / OUT).resolve()
    if not by_cli:
        _clear(target)
    root = product.root()
    command = [sys.executable, "cdk/app.py", "--project", str(project.folder)]
    command += [word for name in environment or () for word in ("--environment", name)]
    command += [] if bundle else ["--no-bundle"]
    command += ["--pipeline"] if pipeline else []
    command += ["--out", str(target)]
    done = subprocess.run(  # noqa: S603  our own program
        command, cwd=root, check=False, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **product.cdk_variables(root)},
    )  # fmt: skip
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["cdk/app.py failed"]
        crashed = any(line.startswith("Traceback") for line in lines)
        say("\n".join(lines[-20:] if crashed else lines), err=True)
        raise typer.Exit(1)
    if by_cli:
        return
    for line in _made(target):
        say(line)
    what = "pipeline" if pipeline else '"dev/*"'
    say(f"next: cdk deploy --app {target} {what}")


def _own_files(project: Project) -> Iterator[Path]:
    found = False
    for file in sorted(project.config.glob("*/*.yaml")):
        found = True
        yield file
    if not found:
        raise InvalidStepInputError(f"{project.config}: has no YAML files")


def _clear(target: Path) -> None:
    """Remove what an earlier synthesis left; nothing else.

    Raises:
        InvalidStepInputError: The folder holds something else.
    """
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not (target / "manifest.json").is_file() or not (target / "cdk.out").is_file():
        raise InvalidStepInputError(f"{target}: is no output of CDK; give another --out")
    shutil.rmtree(target)


def _made(target: Path) -> Iterable[str]:
    """Yield what a synthesis made, in lines for a person."""
    for nested in sorted(target.glob("assembly-*")):
        name = nested.name.removeprefix("assembly-")
        artifacts = json.loads((nested / "manifest.json").read_text())["artifacts"].values()
        stacks = [each for each in artifacts if each["type"] == "aws:cloudformation:stack"]
        place_of = stacks[0]["environment"].removeprefix("aws://").replace("/", " in ")
        yield f"{name}: account {place_of}"
        for stack in sorted(stacks, key=lambda each: each["properties"]["stackName"]):
            file = nested / stack["properties"]["templateFile"]
            count = len(json.loads(file.read_text())["Resources"])
            yield f"  {stack['properties']['stackName']}: {count} resources"
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    yield f"{target}: {size / 1_000_000:.1f} MB"
