"""Ways from the network to services of AWS that do not lead through the internet.

Each service that a role inside the network may call has an endpoint or a reason. A test compares
both with the actions of all roles.
"""

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from lakekit.config.environment import Environment

# The prefix of an action, and the endpoint of its service.
GATEWAY = {"s3": ec2.GatewayVpcEndpointAwsService.S3}
INTERFACES = {
    "cloudwatch": "monitoring",
    "events": "events",
    "glue": "glue",
    "logs": "logs",
    "secretsmanager": "secretsmanager",
    "ssm": "ssm",
    "states": "states",
    "xray": "xray",
}
# Only where the schedules of an environment are paused.
PAUSE = {"scheduler": "scheduler"}
# Only where something is done for readers after a load: views, tags.
VIEWS, TAGS = {"athena": "athena"}, {"lakeformation": "lakeformation"}
NO_ENDPOINT = {
    "ec2": "Lambda and Glue make network interfaces from outside, before anything runs",
    "iam": "a role is passed on in a call of EventBridge Scheduler, which looks at it",
    "kms": "S3 and Secrets Manager use the key; its policy allows no call from elsewhere",
    "sqs": "Lambda fetches the messages of the inbox, and calls the function with them",
}


def interface_services(environment: Environment) -> list[str]:
    """Return the services that need an endpoint of their own, by the names of endpoints."""
    wanted = dict(INTERFACES)
    for services, is_called in (
        (PAUSE, environment.pause),
        (VIEWS, environment.queries.views),
        (TAGS, environment.lake_formation),
    ):
        wanted |= services if is_called else {}
    return sorted(wanted.values())


def add_endpoints(
    vpc: ec2.Vpc, *, subnets: ec2.SubnetSelection, group: ec2.ISecurityGroup, services: list[str]
) -> None:
    """Give a VPC its endpoints; those of interfaces serve this account alone."""
    scope = Construct(vpc, "endpoints")
    for name, gateway in GATEWAY.items():
        vpc.add_gateway_endpoint(name, service=gateway)
    for service in services:
        endpoint = ec2.InterfaceVpcEndpoint(
            scope,
            service,
            vpc=vpc,
            service=ec2.InterfaceVpcEndpointAwsService(service),
            subnets=subnets,
            security_groups=[group],
            private_dns_enabled=True,
            open=False,
        )
        endpoint.add_to_policy(
            iam.PolicyStatement(
                principals=[iam.AnyPrincipal()],
                actions=["*"],
                resources=["*"],
                conditions={"StringEquals": {"aws:PrincipalAccount": Stack.of(vpc).account}},
            )
        )
