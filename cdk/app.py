"""Synthesise every environment: `python cdk/app.py`, with neither the CDK CLI nor Docker.

Without the CLI: `--out DIR`, `--environment NAME` (may be repeated), `--no-bundle`, and
`--pipeline`, which makes the pipeline that deploys the environments in place of these.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def build(
    names: list[str],
    *,
    out: str | None,
    context: dict[str, Any],
    root: Path = ROOT,
    pipeline: bool = False,
) -> Any:
    """Return the app with a stage for each environment, or with the pipeline that has them."""
    # Late: nothing of CDK starts, and no path is needed, before `main` has set it.
    from aws_cdk import App  # noqa: PLC0415

    from cdk.stage import LakekitStage  # noqa: PLC0415
    from lakekit.config.deployment import load_deployment  # noqa: PLC0415
    from lakekit.config.load import check_contracts  # noqa: PLC0415

    check_contracts(root / "config")
    app = App(outdir=out, context=context, analytics_reporting=False)
    environments, sources = load_deployment(root / "config")
    home = next((e for e in environments.values() if e.delivery and e.delivery.pipeline), None)
    if pipeline:
        _add_pipeline(app, home, environments, sources, root)
        return app
    for name in names:
        LakekitStage(
            app,
            name,
            environment=environments[name],
            sources=sources,
            root=root,
            pipeline=home if home and name in home.deployed_by_pipeline else None,
        )
    return app


def _add_pipeline(app: Any, home: Any, environments: Any, sources: Any, root: Path) -> None:
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
        env=CdkEnvironment(account=home.account, region=home.region),
        stack_name=home.name("pipeline"),
    )
    for key, value in home.all_tags.items():
        Tags.of(stack).add(key, value)


def main() -> None:
    """Read the arguments and write the cloud assembly."""
    from lakekit.config.environment import environment_names  # noqa: PLC0415

    names = environment_names(ROOT / "config/environments")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out")
    parser.add_argument("--environment", action="append", choices=names)
    parser.add_argument("--no-bundle", action="store_true", help="leave the packages out")
    parser.add_argument("--pipeline", action="store_true", help="make the pipeline")
    arguments = parser.parse_args()
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    if arguments.no_bundle:
        context["bundle"] = False
    if context["bundle"] and not (ROOT / "lakekit").is_dir():
        parser.error("packages are made from a checkout, not from an installed lakekit")
    app = build(
        arguments.environment or names,
        out=arguments.out,
        context=context,
        pipeline=arguments.pipeline,
    )
    app.synth()


if __name__ == "__main__":
    # Python put cdk/ first, where constructs/ would hide the package of that name.
    sys.path[0] = str(ROOT)
    main()
