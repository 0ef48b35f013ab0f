"""Synthesise every environment: `python cdk/app.py`, with neither the CDK CLI nor Docker.

Without the CLI: `--out DIR`, `--environment NAME` (may be repeated) and `--no-bundle`.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def build(names: list[str], *, out: str | None, context: dict[str, Any], root: Path = ROOT) -> Any:
    """Return the app with a stage for each environment."""
    # Late: nothing of CDK starts, and no path is needed, before `main` has set it.
    from aws_cdk import App  # noqa: PLC0415

    from cdk.stage import LakekitStage  # noqa: PLC0415
    from lakekit.config.deployment import load_deployment  # noqa: PLC0415
    from lakekit.config.load import check_contracts  # noqa: PLC0415

    check_contracts(root / "config")
    app = App(outdir=out, context=context, analytics_reporting=False)
    environments, sources = load_deployment(root / "config")
    for name in names:
        LakekitStage(app, name, environment=environments[name], sources=sources, root=root)
    return app


def main() -> None:
    """Read the arguments and write the cloud assembly."""
    from lakekit.config.environment import environment_names  # noqa: PLC0415

    names = environment_names(ROOT / "config/environments")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out")
    parser.add_argument("--environment", action="append", choices=names)
    parser.add_argument("--no-bundle", action="store_true", help="leave the packages out")
    arguments = parser.parse_args()
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    if arguments.no_bundle:
        context["bundle"] = False
    if context["bundle"] and not (ROOT / "lakekit").is_dir():
        parser.error("packages are made from a checkout, not from an installed lakekit")
    build(arguments.environment or names, out=arguments.out, context=context).synth()


if __name__ == "__main__":
    # Python put cdk/ first, where constructs/ would hide the package of that name.
    sys.path[0] = str(ROOT)
    main()
