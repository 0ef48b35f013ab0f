"""CodePipeline in place of GitHub's workflows: the same steps, in an account of one's own.

It is off unless an environment's file has `delivery.pipeline`, and made by `--pipeline` alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aws_cdk import Stack, pipelines
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk.stacks.delivery import smoke_caller
from cdk.stage import LakekitStage
from lakekit.config.environment import Environment
from lakekit.config.infrastructure.delivery import Pipeline
from lakekit.config.source import Source

PYTHON, NODE = "3.11", "22"
IMAGE = codebuild.LinuxBuildImage.STANDARD_7_0


@dataclass(frozen=True)
class Commands:
    """What the steps of a repository call; the CDK CLI comes with the image of those that deploy.

    lakekit: the command line, once `setup` is done.
    """

    setup: str
    check: tuple[str, ...]
    synth: str
    lakekit: str


OF_PROJECT = Commands(
    setup="pip install -r requirements.txt",
    check=("lakekit check",),
    synth="lakekit synth --pipeline",
    lakekit="lakekit",
)
# As in the workflows.
OF_CHECKOUT = Commands(
    setup="make setup",
    check=("make lint", "make test"),
    synth=".venv/bin/python cdk/app.py --project examples/airports --pipeline --out cdk.out",
    lakekit=".venv/bin/lakekit",
)


def commands_of(project: Path) -> Commands:
    """Return those of a project in a repository of its own, or of the example in a checkout."""
    return OF_PROJECT if (project / "cdk.json").is_file() else OF_CHECKOUT


class PipelineStack(Stack):
    def __init__(  # noqa: PLR0913  parts by name
        self,
        scope: Construct,
        id: str,
        *,
        home: Environment,
        environments: Mapping[str, Environment],
        sources: tuple[Source, ...],
        root: Path,
        config: Path,
        **props: Any,
    ) -> None:
        super().__init__(scope, id, **props)
        assert home.delivery and home.delivery.pipeline  # noqa: S101
        delivery, pipeline = home.delivery, home.delivery.pipeline
        self._home = home
        self._environments = environments
        self._commands = commands = commands_of(config.parent)
        source = pipelines.CodePipelineSource.connection(
            delivery.repository, pipeline.branch, connection_arn=pipeline.connection
        )
        checked = pipelines.CodeBuildStep(
            "check", input=source, commands=[*commands.check], **_build(commands)
        )
        self.pipeline = pipelines.CodePipeline(
            self,
            "pipeline",
            pipeline_name=home.name("pipeline"),
            synth=pipelines.CodeBuildStep(
                "synth",
                input=source,
                commands=[commands.synth],
                primary_output_directory="cdk.out",
                **_build(commands),
            ),
            cross_account_keys=True,
            enable_key_rotation=True,
        )
        self._smoke_role = self._caller(pipeline)
        for number, name in enumerate(pipeline.environments):
            stage = LakekitStage(
                self,
                name,
                environment=environments[name],
                sources=sources,
                root=root,
                config=config,
                pipeline=home,
            )
            approval = pipelines.ManualApprovalStep(f"approve_{name}")
            self.pipeline.add_stage(
                stage,
                pre=[approval] if number else [checked],
                post=[self._smoke(environments[name], source)],
            )

    def _caller(self, pipeline: Pipeline) -> iam.Role:
        """Return the role of the steps that try a release, which the environments know by name."""
        role = iam.Role(
            self,
            "smoke_caller",
            role_name=smoke_caller(self._home),
            assumed_by=iam.ServicePrincipal(
                "codebuild.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": self.account}},
            ),
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["sts:AssumeRole"],
                resources=[self._smoke_arn(self._environments[n]) for n in pipeline.environments],
            )
        )
        return role

    def _smoke(
        self, environment: Environment, source: pipelines.CodePipelineSource
    ) -> pipelines.CodeBuildStep:
        name = environment.environment
        profile = (
            f"[profile smoke]\\nrole_arn={self._smoke_arn(environment)}\\n"
            "credential_source=EcsContainer\\n"
        )
        return pipelines.CodeBuildStep(
            f"smoke_{name}",
            input=source,
            role=self._smoke_role,
            commands=[
                "mkdir -p ~/.aws",
                f"printf '{profile}' > ~/.aws/config",
                f"AWS_PROFILE=smoke {self._commands.lakekit} smoke --environment {name}",
            ],
            **_build(self._commands),
        )

    def _smoke_arn(self, environment: Environment) -> str:
        return f"arn:{self.partition}:iam::{environment.account}:role/{environment.name('smoke')}"


def _build(commands: Commands) -> dict[str, Any]:
    """Return what the steps share that need the repository's own environment."""
    return {
        "install_commands": [commands.setup],
        "partial_build_spec": codebuild.BuildSpec.from_object(
            {"phases": {"install": {"runtime-versions": {"python": PYTHON, "nodejs": NODE}}}}
        ),
        "build_environment": codebuild.BuildEnvironment(
            build_image=IMAGE, compute_type=codebuild.ComputeType.MEDIUM
        ),
    }
