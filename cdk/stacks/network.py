"""The network of an environment: a VPC of three tiers, or groups in an existing one.

`isolated` holds functions and jobs, which reach AWS through endpoints and nothing else. `private`
holds ExtractPages, which calls sources through the NAT gateways in `public`.
"""

from collections.abc import Iterable
from typing import Any

from aws_cdk import CfnOutput, Fn, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from cdk.constructs import acls
from cdk.constructs.endpoints import add_endpoints, interface_services
from cdk.constructs.logs import log_group
from cdk.constructs.placement import (
    TIERS,
    Tier,
    connection_names,
    group_parameter,
    subnets_parameter,
)
from cdk.constructs.roles import service_role
from lakekit.config.environment import Environment
from lakekit.config.infrastructure.network import Network
from lakekit.config.source import Source, source_ports

ISOLATED = ec2.SubnetSelection(subnet_group_name="isolated")
PRIVATE = ec2.SubnetSelection(subnet_group_name="private")
PUBLIC = ec2.SubnetSelection(subnet_group_name="public")
HTTPS = 443
# A NAT gateway is all that is in a public subnet.
PUBLIC_MASK = 28


class NetworkStack(Stack):
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        network: Network,
        sources: Iterable[Source],
        log_key: kms.IKey,
        **props: Any,
    ) -> None:
        self._zones = [Fn.select(number, Fn.get_azs()) for number in range(network.zone_count)]
        super().__init__(scope, id, **props)
        self._environment, self._network = environment, network
        deployed = [s for s in sources if s.is_deployed_to(environment.environment)]
        self._ports = sorted({HTTPS, *(p for each in deployed for p in source_ports(each))})
        self._services = interface_services(environment)
        vpc: ec2.IVpc
        if network.vpc_id is None:
            vpc = own = self._make_vpc()
            subnets = {
                tier: own.select_subnets(
                    subnet_group_name="private" if tier == "extract" else "isolated"
                ).subnets
                for tier in TIERS
            }
        else:
            vpc = ec2.Vpc.from_vpc_attributes(
                self, "vpc", vpc_id=network.vpc_id, availability_zones=[*network.subnets]
            )
            subnets = dict.fromkeys(TIERS, self._given_subnets())
        groups = {tier: self._group(vpc, tier) for tier in TIERS}
        self._let_jobs_talk(groups["jobs"])
        if network.vpc_id is None:
            self._finish_vpc(own, groups, log_key)
        else:
            CfnOutput(self, "NeededEndpoints", value=",".join(["s3", *self._services]))
        self._connect_jobs(subnets["jobs"], groups["jobs"])
        self._publish(subnets, groups)

    @property
    def availability_zones(self) -> list[str]:
        """The zones, as CloudFormation knows them: a look-up would need credentials."""
        return self._zones

    def _make_vpc(self) -> ec2.Vpc:
        block, zones = self._network.block, self._network.zone_count
        tiers = (
            ("isolated", ec2.SubnetType.PRIVATE_ISOLATED, block.prefixlen + 3),
            ("private", ec2.SubnetType.PRIVATE_WITH_EGRESS, block.prefixlen + 4),
        )
        return ec2.Vpc(
            self,
            "vpc",
            ip_addresses=ec2.IpAddresses.cidr(str(block)),
            availability_zones=self._zones,
            nat_gateways=zones if self._environment.is_production else 1,
            restrict_default_security_group=False,
            subnet_configuration=[
                *(
                    ec2.SubnetConfiguration(name=name, subnet_type=kind, cidr_mask=mask)
                    for name, kind, mask in tiers
                ),
                ec2.SubnetConfiguration(
                    name="public",
                    subnet_type=ec2.SubnetType.PUBLIC,
                    cidr_mask=PUBLIC_MASK,
                    map_public_ip_on_launch=False,
                ),
            ],
        )

    def _given_subnets(self) -> list[ec2.ISubnet]:
        return [
            ec2.Subnet.from_subnet_attributes(self, zone, subnet_id=subnet, availability_zone=zone)
            for zone, subnet in self._network.subnets.items()
        ]

    def _group(self, vpc: ec2.IVpc, tier: Tier) -> ec2.SecurityGroup:
        """Return the group of a tier: nothing comes in, and out goes what the tier needs."""
        group = ec2.SecurityGroup(
            self,
            f"{tier}_group",
            vpc=vpc,
            security_group_name=self._environment.name(tier),
            description=f"Lakekit {self._environment.environment}: {tier}",
            allow_all_outbound=False,
        )
        for port in self._ports if tier == "extract" else [HTTPS]:
            # S3 is at public addresses, also behind its endpoint.
            group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(port), f"TCP {port}")
        return group

    def _let_jobs_talk(self, group: ec2.SecurityGroup) -> None:
        """Glue wants the workers of a job to reach each other at all ports."""
        group.add_ingress_rule(group, ec2.Port.all_tcp(), "Workers of a job")
        group.add_egress_rule(group, ec2.Port.all_tcp(), "Workers of a job")

    def _finish_vpc(
        self, vpc: ec2.Vpc, groups: dict[Tier, ec2.SecurityGroup], log_key: kms.IKey
    ) -> None:
        endpoints = ec2.SecurityGroup(
            self,
            "endpoints_group",
            vpc=vpc,
            security_group_name=self._environment.name("endpoints"),
            description=f"Lakekit {self._environment.environment}: endpoints",
            allow_all_outbound=False,
        )
        for tier, group in groups.items():
            endpoints.add_ingress_rule(group, ec2.Port.tcp(HTTPS), f"HTTPS of {tier}")
        add_endpoints(vpc, subnets=ISOLATED, group=endpoints, services=self._services)
        block = str(self._network.block)
        acls.add_acl(vpc, "isolated", ISOLATED, acls.isolated(block))
        acls.add_acl(vpc, "private", PRIVATE, acls.calling(self._ports))
        acls.add_acl(vpc, "public", PUBLIC, acls.public(block, self._ports))
        self._log_flows(vpc, log_key)

    def _log_flows(self, vpc: ec2.Vpc, log_key: kms.IKey) -> None:
        name = f"/aws/vpc/{self._environment.name('flows')}"
        group = log_group(self, "flows", name, environment=self._environment, key=log_key)
        role = service_role(self, "flows_role", "vpc-flow-logs")
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
                resources=[group.log_group_arn],
            )
        )
        ec2.CfnFlowLog(
            self,
            "flow_log",
            resource_id=vpc.vpc_id,
            resource_type="VPC",
            traffic_type="ALL",
            log_destination_type="cloud-watch-logs",
            log_group_name=group.log_group_name,
            deliver_logs_permission_arn=role.role_arn,
        )

    def _connect_jobs(self, subnets: list[ec2.ISubnet], group: ec2.SecurityGroup) -> None:
        for name, subnet in zip(connection_names(self._environment), subnets, strict=True):
            glue.CfnConnection(
                self,
                name,
                catalog_id=self.account,
                connection_input=glue.CfnConnection.ConnectionInputProperty(
                    name=name,
                    description="The network of Lakekit's jobs in one zone",
                    connection_type="NETWORK",
                    connection_properties={},
                    physical_connection_requirements=(
                        glue.CfnConnection.PhysicalConnectionRequirementsProperty(
                            availability_zone=subnet.availability_zone,
                            subnet_id=subnet.subnet_id,
                            security_group_id_list=[group.security_group_id],
                        )
                    ),
                ),
            )

    def _publish(
        self, subnets: dict[Tier, list[ec2.ISubnet]], groups: dict[Tier, ec2.SecurityGroup]
    ) -> None:
        """Leave what functions need where their stacks find it by name."""
        for tier in TIERS:
            if tier == "jobs":  # Glue finds their connections by name
                continue
            ssm.StringListParameter(
                self,
                f"{tier}_subnets",
                parameter_name=subnets_parameter(self._environment, tier),
                string_list_value=[each.subnet_id for each in subnets[tier]],
            )
            ssm.StringParameter(
                self,
                f"{tier}_group_id",
                parameter_name=group_parameter(self._environment, tier),
                string_value=groups[tier].security_group_id,
            )
