"""The wheel: built from the source distribution, listed, installed, and run from an empty folder.

It runs without `site`, so that no checkout that is installed for editing is on the path.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from tests.infra.conftest import PROJECT, ROOT

BUILT = shutil.ignore_patterns(
    ".*cache*", ".git", ".venv", "__pycache__", "build", "cdk.out", "dist", "*.egg-info"
)
# What the sandbox, the demo and the example API open below the project's root.
NEEDED = (
    "cdk.json", "cdk/app.py", "cdk/stacks/compute.py",
    "examples/time_zones/contract.yaml", "examples/time_zones/data/2022b.ndjson",
    "glue_jobs/merge_scd2.py", "lambdas/start_run/handler.py", "pyproject.toml",
    "requirements.txt", "state_machines/load_source.asl.json",
)  # fmt: skip
# Of the example, while it is there.
EXAMPLE = (
    "examples/airports/config/contracts/airports.yaml",
    "examples/airports/config/environments/base.yaml",
    "examples/airports/config/sources/airports_api.yaml",
    "examples/airports/data/20240806.ndjson.gz", "examples/airports/server.py",
)  # fmt: skip
NEEDED += EXAMPLE if (ROOT / "examples/airports").is_dir() else ()
SANDBOX = """
import sys
from pathlib import Path
from lakekit.project import product
from lakekit.sandbox.template import find_scripts, read_assembly, synthesise

root = product.root()
assembly = read_assembly(synthesise(root, Path(sys.argv[1]), Path("templates")))
scripts = find_scripts(assembly, root)
print(root)
print(*sorted(path.relative_to(root) for path in scripts.values()))
print(*(kind for stack in assembly.stacks.values() for kind in sorted(
    each["Type"] for each in stack["Resources"].values() if "StateMachine" in each["Type"])))
"""


def build(source: Path, out: Path, *options: str) -> Path:
    """Build without an index, with the setuptools that is installed; return the wheel."""
    uv = Path(sys.executable).with_name("uv")
    command = [str(uv), "build", "--offline", "--no-build-isolation", "--python", sys.executable,
               "--out-dir", str(out), *options, str(source)]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    (built,) = out.glob("*.whl")
    return built


def names_in(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(archive.namelist())


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the checkout: a build writes into it."""
    folder = tmp_path_factory.mktemp("distribution") / "source"
    return Path(shutil.copytree(ROOT, folder, ignore=BUILT, symlinks=True))


@pytest.fixture(scope="module")
def wheel(source: Path) -> Path:
    """Build as a release does: the wheel is made from the source distribution."""
    return build(source, source.parent / "dist")


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    return names_in(wheel)


@pytest.fixture(scope="module")
def target(wheel: Path) -> Path:
    """Install the wheel alone; its packages are those of this environment."""
    folder = wheel.parent / "target"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
               "--disable-pip-version-check", "--target", str(folder), str(wheel)]  # fmt: skip
    subprocess.run(command, check=True)
    return folder


def run(target: Path, empty: Path, *arguments: str) -> str:
    """Run Python on the installed package from an empty folder; return what it prints."""
    path = os.pathsep.join([str(target), sysconfig.get_path("purelib")])
    done = subprocess.run(
        [sys.executable, "-S", *arguments], cwd=empty, env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_brings_one_top_level_module(names: list[str]) -> None:
    tops = {name.partition("/")[0] for name in names}

    assert tops == {"lakekit", "lakekit-0.1.0.dist-info"}


def test_the_wheel_has_the_products_files_and_no_others(names: list[str]) -> None:
    project = "lakekit/project/_product/"
    carried = {name.removeprefix(project) for name in names if name.startswith(project)}

    assert carried >= set(NEEDED)
    assert {name.partition("/")[0] for name in carried} == {
        "cdk", "cdk.json", "examples", "glue_jobs", "lambdas", "pyproject.toml", "requirements.txt",
        "state_machines",
    }  # fmt: skip


def test_a_build_in_the_checkout_leaves_out_what_an_earlier_one_left(
    source: Path, names: list[str], tmp_path: Path
) -> None:
    stale = source / "build/lib/lakekit/stale.py"
    stale.parent.mkdir(parents=True)
    stale.touch()
    (source / "cdk/__pycache__").mkdir()
    (source / "cdk/__pycache__/app.cpython-311.pyc").touch()

    assert names_in(build(source, tmp_path, "--wheel")) == names


def test_the_command_line_runs_from_the_installed_wheel(target: Path, tmp_path: Path) -> None:
    contract = PROJECT / "config/contracts/customers.yaml"

    version = run(target, tmp_path, "-m", "lakekit.cli.main", "--version")
    shown = run(target, tmp_path, "-m", "lakekit.cli.main", "--help")
    checked = run(target, tmp_path, "-m", "lakekit.cli.main", "check", str(contract))

    assert version == "lakekit 0.1.0\n"
    assert "sandbox" in shown
    assert checked == f"{contract}: ok\n"


def test_the_sandbox_finds_all_it_needs_in_the_installed_wheel(
    target: Path, tmp_path: Path
) -> None:
    shown = run(target, tmp_path, "-c", SANDBOX, str(PROJECT))
    root, scripts, machines = shown.splitlines()

    assert root == str(target / "lakekit/project/_product")
    assert [name for name in NEEDED if not Path(root, name).is_file()] == []
    assert scripts.split() == [
        f"glue_jobs/{job}.py"
        for job in ("create_tables", "maintain_tables", "merge_scd2", "rebuild_table")
    ]
    kinds = {"AWS::StepFunctions::StateMachine": 2, "AWS::StepFunctions::StateMachineVersion": 2}
    assert Counter(machines.split()) == kinds


def test_a_project_is_made_and_synthesised_with_the_installed_wheel(
    target: Path, tmp_path: Path
) -> None:
    command = ("-m", "lakekit.cli.main")
    made = run(target, tmp_path, *command, "init", "shop")
    shop = tmp_path / "shop"
    checked = run(target, shop / "config", *command, "check")
    shown = run(target, shop, *command, "synth", "--environment", "dev", "--no-bundle")

    assert "wrote  shop/config/environments/base.yaml" in made.splitlines()
    assert checked.count(": ok\n") == 3
    assert shown.splitlines()[:2] == [
        "dev: account 111111111111 in eu-west-1",
        f"  lakekit-dev-compute: {resources(shop, 'compute')} resources",
    ]
    [library] = (file for file in (shop / "cdk.out").rglob("asset.*/lakekit/__init__.py"))
    assert not (library.parent / "project").exists()
    assert (library.parent / "spark").is_dir()


def resources(project: Path, stack: str) -> int:
    [template] = (project / "cdk.out").rglob(f"*{stack}*.template.json")
    return len(json.loads(template.read_text())["Resources"])
