"""Who may deliver releases into an environment: workflows of one repository on GitHub.

No key is stored: GitHub says by OpenID Connect which repository and environment a job is of. An
environment that a pipeline deploys trusts the pipeline in place of GitHub.
"""

from collections.abc import Iterable
from typing import Any

from aws_cdk import ArnFormat, CfnOutput, DefaultStackSynthesizer, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from lakekit.config.environment import Environment
from lakekit.config.infrastructure.delivery import Delivery

GITHUB = "token.actions.githubusercontent.com"
# Of the roles of CDK's bootstrap those that a deployment takes; they act, not ours.
CDK_ROLES = ("deploy", "file-publishing", "lookup")


def smoke_caller(environment: Environment) -> str:
    """Return the name of the role with which the pipeline of an account tries releases."""
    return environment.name("pipeline_smoke")


class DeliveryStack(Stack):
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        delivery: Delivery,
        pipeline: Environment | None,
        **props: Any,
    ) -> None:
        super().__init__(scope, id, **props)
        self._environment, self._repository = environment, delivery.repository
        if pipeline:
            self._trust_pipeline(pipeline)
        else:
            self._trust_github(delivery)

    def _trust_github(self, delivery: Delivery) -> None:
        environment, provider = self._environment, self._github(delivery)
        deploy = self._role("deploy", provider, f"environment:{environment.environment}")
        for statement in (self._take_cdk_roles(), *self._smoke()):
            deploy.add_to_policy(statement)
        self._role("diff", provider, "pull_request").add_to_policy(self._read_templates())

    def _trust_pipeline(self, pipeline: Environment) -> None:
        """Let the pipeline try a release; to deploy, it takes the roles of CDK's bootstrap."""
        smoke = iam.Role(
            self,
            "smoke",
            role_name=self._environment.name("smoke"),
            assumed_by=iam.AccountPrincipal(pipeline.account).with_conditions(
                {"ArnEquals": {"aws:PrincipalArn": self._caller(pipeline)}}
            ),
        )
        for statement in self._smoke():
            smoke.add_to_policy(statement)

    def _github(self, delivery: Delivery) -> str:
        """Return the ARN of the provider, which an account has once."""
        if delivery.existing_provider:
            return self.format_arn(
                service="iam", region="", resource="oidc-provider", resource_name=GITHUB
            )
        return iam.CfnOIDCProvider(
            self, "github", url=f"https://{GITHUB}", client_id_list=["sts.amazonaws.com"]
        ).attr_arn

    def _role(self, name: str, provider: str, subject: str) -> iam.Role:
        """Return a role for jobs of one kind, of one repository."""
        role = iam.Role(
            self,
            name,
            role_name=self._environment.name(name),
            assumed_by=iam.WebIdentityPrincipal(
                provider,
                {
                    "StringEquals": {
                        f"{GITHUB}:aud": "sts.amazonaws.com",
                        f"{GITHUB}:sub": f"repo:{self._repository}:{subject}",
                    }
                },
            ),
        )
        CfnOutput(self, f"{name}_role_arn", value=role.role_arn)
        return role

    def _take_cdk_roles(self) -> iam.PolicyStatement:
        qualifier = DefaultStackSynthesizer.DEFAULT_QUALIFIER
        return iam.PolicyStatement(
            actions=["sts:AssumeRole"],
            resources=[
                self.format_arn(
                    service="iam",
                    region="",
                    resource="role",
                    resource_name=f"cdk-{qualifier}-{each}-role-{self.account}-{self.region}",
                )
                for each in CDK_ROLES
            ],
        )

    def _read_templates(self) -> iam.PolicyStatement:
        """What `cdk diff` compares: the templates of this environment's stacks."""
        stacks = self.format_arn(
            service="cloudformation", resource="stack", resource_name=self._environment.name("*")
        )
        return iam.PolicyStatement(
            actions=["cloudformation:DescribeStacks", "cloudformation:GetTemplate"],
            resources=[stacks],
        )

    def _smoke(self) -> Iterable[iam.PolicyStatement]:
        """What `lakekit smoke` does: start a run, wait for it, read its documents."""
        environment = self._environment
        for actions, kind, name in (
            (["states:ListExecutions", "states:StartExecution"], "stateMachine", ""),
            (["states:DescribeExecution"], "execution", ":*"),
        ):
            yield iam.PolicyStatement(
                actions=actions,
                resources=[
                    self.format_arn(
                        service="states",
                        resource=kind,
                        resource_name=f"{environment.name('load_source')}{name}",
                        arn_format=ArnFormat.COLON_RESOURCE_NAME,
                    )
                ],
            )
        bucket = f"arn:{self.partition}:s3:::{environment.bucket('landing')}"
        yield iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket])
        yield iam.PolicyStatement(actions=["s3:GetObject"], resources=[f"{bucket}/runs/*"])
        # By its alias: this stack is there before the key.
        yield iam.PolicyStatement(
            actions=["kms:Decrypt"],
            resources=[self.format_arn(service="kms", resource="key", resource_name="*")],
            conditions={
                "ForAnyValue:StringEquals": {
                    "kms:ResourceAliases": f"alias/{environment.name('data')}"
                },
                "StringEquals": {"kms:ViaService": f"s3.{self.region}.amazonaws.com"},
            },
        )

    def _caller(self, pipeline: Environment) -> str:
        return f"arn:{self.partition}:iam::{pipeline.account}:role/{smoke_caller(pipeline)}"
