"""The Lambda function of one step, with a role of its own."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from lakekit.config.environment import Environment

# Stays when the next release replaces it; goes if the deployment that made it fails, since Lambda
# publishes nothing twice.
KEPT = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


class StepLambda(Construct):
    """`lambdas/<step>/handler.py`, deployed.

    version: the function as this release has it. A definition names it, so that a run which has
    begun keeps it; versions of earlier releases stay for the same reason (ADR 19).
    """

    def __init__(
        self,
        scope: Construct,
        step: str,
        *,
        environment: Environment,
        code: lambda_.Code,
        variables: dict[str, str],
        timeout_seconds: int,
    ) -> None:
        super().__init__(scope, step)
        name = environment.name(step)
        log_group = logs.LogGroup(
            self,
            "logs",
            log_group_name=f"/aws/lambda/{name}",
            retention=logs.RetentionDays[f"{_RETENTION[environment.functions.log_days]}"],
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.role = iam.Role(self, "role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log_group.grant_write(self.role)
        self.function = lambda_.Function(
            self,
            "function",
            function_name=name,
            runtime=lambda_.Runtime.PYTHON_3_11,
            architecture=lambda_.Architecture.X86_64,
            handler=f"lambdas.{step}.handler.handler",
            code=code,
            role=self.role,
            log_group=log_group,
            environment={"POWERTOOLS_SERVICE_NAME": step, **variables},
            memory_size=environment.functions.memory_mb,
            timeout=Duration.seconds(timeout_seconds),
            current_version_options=lambda_.VersionOptions(removal_policy=KEPT),
        )

    @property
    def version(self) -> lambda_.Version:
        """Publish the function."""
        return self.function.current_version

    def allow(self, statement: iam.PolicyStatement) -> None:
        """Give the function's role one more right."""
        self.role.add_to_policy(statement)


_RETENTION = {
    1: "ONE_DAY",
    3: "THREE_DAYS",
    7: "ONE_WEEK",
    14: "TWO_WEEKS",
    30: "ONE_MONTH",
    90: "THREE_MONTHS",
    180: "SIX_MONTHS",
    365: "ONE_YEAR",
}
