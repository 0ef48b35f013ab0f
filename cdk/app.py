"""Synthesise a project: `python cdk/app.py --project DIR`, with neither the CDK CLI nor Docker.

`--out DIR` instead of the folder that the CLI names, `--environment NAME` (may be repeated),
`--no-bundle`, and `--pipeline`, which makes the pipeline that deploys the environments in place of
these.
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
    pipeline: bool = False,
) -> Any:
    """Return the app with a stage for each environment, or with the pipeline that has them.

    Args:
        names: The environments; all, if none is named.
        project: The folder that has `config`.
        out: Where the assembly is written; None for the folder that the CDK CLI names.
        context: In addition to that of `cdk.json`.
        root: The folder that has functions, jobs and state machines.
        pipeline: Whether to make the pipeline in place of the environments.
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
    home = next((e for e in environments.values() if e.delivery and e.delivery.pipeline), None)
    if pipeline:
        _add_pipeline(app, home, environments, sources, root, config)
        return app
    for name in names or environments:
        LakekitStage(
            app,
            name,
            environment=environments[name],
            sources=sources,
            root=root,
            config=config,
            pipeline=home if home and name in home.deployed_by_pipeline else None,
        )
    return app


def _add_pipeline(
    app: Any, home: Any, environments: Any, sources: Any, root: Path, config: Path
) -> None:
    from aws_cdk import Environment as CdkEnvironment  # noqa: PLC0415
    from aws_cdk import Tags  # noqa: PLC0415

    from cdk.stacks.pipeline import PipelineStack  # noqa: PLC0415

    if home is None:
        raise SystemExit("no file in config/environments has delivery.pipeline")
    stack = PipelineStack(
        app,
        "pipeline",
        home=home,
        environments=environments,
        sources=sources,
        root=root,
        config=config,
        env=CdkEnvironment(account=home.account, region=home.region),
        stack_name=home.name("pipeline"),
    )
    for key, value in home.all_tags.items():
        Tags.of(stack).add(key, value)


def main() -> None:
    """Read the arguments and write the cloud assembly."""
    from lakekit.config.environment import environment_names  # noqa: PLC0415
    from lakekit.errors import LakekitError  # noqa: PLC0415

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--project", type=Path, required=True)
    parser.add_argument("--out")
    parser.add_argument("--environment", action="append", default=[])
    parser.add_argument("--no-bundle", action="store_true", help="leave the packages out")
    parser.add_argument("--pipeline", action="store_true", help="make the pipeline")
    given = parser.parse_args()
    known = environment_names(given.project / "config/environments")
    if unknown := sorted({*given.environment} - {*known}):
        parser.error(f"no environment {', '.join(unknown)}; there are {', '.join(known)}")
    context = {"bundle": False} if given.no_bundle else {}
    try:
        app = build(
            given.environment,
            project=given.project,
            out=given.out,
            context=context,
            pipeline=given.pipeline,
        )
    except LakekitError as error:
        sys.exit(f"{type(error).__name__}: {error}")
    app.synth()


if __name__ == "__main__":
    # Python put cdk/ first, where constructs/ would hide the package of that name.
    sys.path[0] = str(ROOT)
    main()
