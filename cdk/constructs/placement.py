"""Where in a network functions and jobs are.

Other stacks know the network by names: of parameters that hold its ids, and of Glue's connections.
So it can come, change and go without an export that another stack holds.
"""

from typing import Literal

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_ssm as ssm

from lakekit.config.environment import Environment
from lakekit.config.functions import Step

# `extract` alone may call the internet; `functions` and `jobs` have no way to it.
Tier = Literal["extract", "functions", "jobs"]
TIERS: tuple[Tier, ...] = ("extract", "functions", "jobs")
CALLS_SOURCES: tuple[Step, ...] = ("extract_pages",)


def tier_of(step: Step) -> Tier:
    """Return the tier of a function."""
    return "extract" if step in CALLS_SOURCES else "functions"


def subnets_parameter(environment: Environment, tier: Tier) -> str:
    """Return the name of the parameter with the subnets of a tier."""
    return f"/{environment.prefix}/{environment.environment}/network/{tier}_subnets"


def group_parameter(environment: Environment, tier: Tier) -> str:
    """Return the name of the parameter with the security group of a tier."""
    return f"/{environment.prefix}/{environment.environment}/network/{tier}_group"


def connection_names(environment: Environment) -> list[str]:
    """Return the names of Glue's connections, one for each zone; none without a network."""
    zones = environment.network.zone_count if environment.network else 0
    return [environment.name(f"zone_{number}") for number in range(1, zones + 1)]


def place_function(function: lambda_.Function, role: iam.Role, environment: Environment,
                   step: Step) -> None:  # fmt: skip
    """Put a function into the network of its environment, if that has one."""
    if environment.network is None:
        return
    tier, resource = tier_of(step), function.node.default_child
    assert isinstance(resource, lambda_.CfnFunction)  # noqa: S101
    resource.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
        subnet_ids=ssm.StringListParameter.value_for_typed_list_parameter(
            function, subnets_parameter(environment, tier)
        ),
        security_group_ids=[
            ssm.StringParameter.value_for_string_parameter(
                function, group_parameter(environment, tier)
            )
        ],
    )
    _allow_interfaces_of_lambda(role, Stack.of(function), environment.name(step))


def _allow_interfaces_of_lambda(role: iam.Role, stack: Stack, name: str) -> None:
    """Lambda makes network interfaces with the role of a function, whose code must not."""
    changes = [
        "ec2:AssignPrivateIpAddresses",
        "ec2:CreateNetworkInterface",
        "ec2:DeleteNetworkInterface",
        "ec2:UnassignPrivateIpAddresses",
    ]
    looks = ["ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets"]
    _allow_interfaces(role, stack, changes, looks)
    function = stack.format_arn(service="lambda", resource=f"function:{name}")
    role.add_to_policy(
        iam.PolicyStatement(
            effect=iam.Effect.DENY,
            actions=[*changes, *looks],
            resources=["*"],
            conditions={"ArnEquals": {"lambda:SourceFunctionArn": function}},
        )
    )


def _allow_interfaces(role: iam.Role, stack: Stack, changes: list[str], looks: list[str]) -> None:
    """Allow changes in the account and region, as Lambda's guide has it; looks name nothing."""
    everything = stack.format_arn(service="ec2", resource="*/*")
    role.add_to_policy(iam.PolicyStatement(actions=changes, resources=[everything]))
    role.add_to_policy(iam.PolicyStatement(actions=looks, resources=["*"]))


def allow_connections(role: iam.Role, environment: Environment) -> None:
    """Let Glue find the connections of a job, and make network interfaces with its role."""
    stack = Stack.of(role)
    names = connection_names(environment)
    if not names:
        return
    role.add_to_policy(
        iam.PolicyStatement(
            actions=["glue:GetConnection"],
            resources=[
                stack.format_arn(service="glue", resource=each)
                for each in ("catalog", *(f"connection/{name}" for name in names))
            ],
        )
    )
    _allow_interfaces(
        role,
        stack,
        ["ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface"],
        [
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeRouteTables",
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeSubnets",
            "ec2:DescribeVpcEndpoints",
        ],
    )
    role.add_to_policy(
        iam.PolicyStatement(
            actions=["ec2:DescribeVpcAttribute"],
            resources=[stack.format_arn(service="ec2", resource="vpc/*")],
        )
    )
    role.add_to_policy(
        iam.PolicyStatement(
            actions=["ec2:CreateTags", "ec2:DeleteTags"],
            resources=[stack.format_arn(service="ec2", resource="network-interface/*")],
            conditions={
                "ForAllValues:StringEquals": {"aws:TagKeys": ["aws-glue-service-resource"]}
            },
        )
    )
