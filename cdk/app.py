"""Synthesise a project: `python cdk/app.py --project DIR`, with neither the CDK CLI nor Docker.

`--out DIR` instead of the folder that the CLI names, `--environment NAME` (may be repeated),
`--no-bundle`.
"""

import argparse
import json
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def build(
    names: Collection[str],
    *,
    project: Path,
    out: str | None,
    context: dict[str, Any] | None = None,
    root: Path = ROOT,
) -> Any:
    """Return the app with a stage for each environment.

    Args:
        names: The environments; all, if none is named.
        project: The folder that has `config`.
        out: Where the assembly is written; None for the folder that the CDK CLI names.
        context: In addition to that of `cdk.json`.
        root: The folder that has functions, jobs and state machines.
    """
    # Late: nothing of CDK starts, and no path is needed, before `main` has set it.
    from aws_cdk import App  # noqa: PLC0415

    from cdk.stage import LakekitStage  # noqa: PLC0415
    from lakekit.config.deployment import load_deployment  # noqa: PLC0415
    from lakekit.config.load import check_contracts  # noqa: PLC0415

    config = project / "config"
    check_contracts(config)
    environments, sources = load_deployment(config)
    given = json.loads((ROOT / "cdk.json").read_text())["context"] | (context or {})
    app = App(outdir=out, context=given, analytics_reporting=False)
    for name in names or environments:
        LakekitStage(
            app, name, environment=environments[name], sources=sources, root=root, config=config
        )
    return app


def main() -> None:
    """Read the arguments and write the cloud assembly."""
    from lakekit.config.environment import environment_names  # noqa: PLC0415
    from lakekit.errors import LakekitError  # noqa: PLC0415

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--project", type=Path, required=True)
    parser.add_argument("--out")
    parser.add_argument("--environment", action="append", default=[])
    parser.add_argument("--no-bundle", action="store_true", help="leave the packages out")
    given = parser.parse_args()
    known = environment_names(given.project / "config/environments")
    if unknown := sorted({*given.environment} - {*known}):
        parser.error(f"no environment {', '.join(unknown)}; there are {', '.join(known)}")
    context = {"bundle": False} if given.no_bundle else {}
    try:
        app = build(given.environment, project=given.project, out=given.out, context=context)
    except LakekitError as error:
        sys.exit(f"{type(error).__name__}: {error}")
    app.synth()


if __name__ == "__main__":
    # Python put cdk/ first, where constructs/ would hide the package of that name.
    sys.path[0] = str(ROOT)
    main()
