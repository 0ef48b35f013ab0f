"""The Lambda function of one step, with a role of its own."""

from dataclasses import dataclass

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from cdk.constructs.deployment import Deployment
from cdk.constructs.logs import log_group
from cdk.constructs.placement import place_function
from cdk.constructs.roles import service_role
from lakekit.config.functions import Step

# Stays when the next release replaces it; goes if the deployment that made it fails, since Lambda
# publishes nothing twice.
KEPT = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


@dataclass(frozen=True)
class Work:
    """What a function does at most: for how many seconds, and how often at once."""

    seconds: int
    at_once: int


class StepLambda(Construct):
    """`lambdas/<step>/handler.py`, deployed.

    version: the function as this release has it. A definition names it, so that a run which has
    begun keeps it; versions of earlier releases stay for the same reason (ADR 19).
    """

    def __init__(
        self,
        scope: Construct,
        step: Step,
        *,
        deployment: Deployment,
        code: lambda_.Code,
        work: Work,
        variables: dict[str, str],
    ) -> None:
        super().__init__(scope, step)
        environment = deployment.environment
        name, functions = environment.name(step), environment.functions
        group = log_group(
            self, "logs", f"/aws/lambda/{name}", environment=environment, key=deployment.log_key
        )
        self.role = service_role(self, "role", "lambda")
        group.grant_write(self.role)
        self.function = lambda_.Function(
            self,
            "function",
            function_name=name,
            runtime=lambda_.Runtime.PYTHON_3_11,
            architecture=lambda_.Architecture.X86_64,
            handler=f"lambdas.{step}.handler.handler",
            code=code,
            role=self.role,
            log_group=group,
            tracing=lambda_.Tracing.ACTIVE,
            environment={"POWERTOOLS_SERVICE_NAME": step, **variables},
            memory_size=functions.memory_of(step),
            timeout=Duration.seconds(work.seconds),
            reserved_concurrent_executions=work.at_once if functions.reserve_concurrency else None,
            current_version_options=lambda_.VersionOptions(removal_policy=KEPT),
        )
        place_function(self.function, self.role, environment, step)

    @property
    def version(self) -> lambda_.Version:
        """Publish the function."""
        return self.function.current_version

    def allow(self, statement: iam.PolicyStatement) -> None:
        """Give the function's role one more right."""
        self.role.add_to_policy(statement)
