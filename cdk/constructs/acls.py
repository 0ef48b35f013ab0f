"""Network ACLs: what may pass between the tiers of a VPC and the world, whatever a group allows.

They know no connections, so that answers need rules of their own. DNS and time of AWS pass them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2

# Where Lambda and NAT gateways expect answers.
# https://docs.aws.amazon.com/vpc/latest/userguide/custom-network-acl.html#nacl-ephemeral-ports
ANSWERS = (1024, 65535)
Ports = tuple[int, int]


@dataclass(frozen=True)
class Rule:
    """TCP that passes: whence or whither, and the ports at its end."""

    direction: ec2.TrafficDirection
    cidr: str
    ports: Ports


IN, OUT = ec2.TrafficDirection.INGRESS, ec2.TrafficDirection.EGRESS
ANYWHERE = "0.0.0.0/0"


def isolated(block: str) -> Iterator[Rule]:
    """Yield the rules of functions and jobs: the network, and S3 at its public addresses."""
    yield Rule(IN, block, (0, 65535))
    yield Rule(OUT, block, (0, 65535))
    yield Rule(IN, ANYWHERE, ANSWERS)
    yield Rule(OUT, ANYWHERE, (443, 443))


def calling(ports: list[int]) -> Iterator[Rule]:
    """Yield the rules of what calls sources, at their ports."""
    yield Rule(IN, ANYWHERE, ANSWERS)
    yield from (Rule(OUT, ANYWHERE, ports) for ports in ranges(ports))


def public(block: str, ports: list[int]) -> Iterator[Rule]:
    """Yield the rules of NAT gateways: they pass on calls of sources, and the answers."""
    yield from (Rule(IN, block, ports) for ports in ranges(ports))
    yield Rule(OUT, block, ANSWERS)
    yield Rule(IN, ANYWHERE, ANSWERS)
    yield from (Rule(OUT, ANYWHERE, ports) for ports in ranges(ports))


def ranges(ports: list[int], most: int = 15) -> list[Ports]:
    """Return each port for itself, or all up to the highest: an ACL takes 20 rules a direction.

    Example:
        >>> ranges([443, 8443]), ranges([443, 8443], most=1)
        ([(443, 443), (8443, 8443)], [(443, 8443)])
    """
    if len(ports) > most:
        return [(min(ports), max(ports))]
    return [(port, port) for port in ports]


def add_acl(vpc: ec2.Vpc, name: str, subnets: ec2.SubnetSelection, rules: Iterator[Rule]) -> None:
    """Give the subnets of a tier their ACL."""
    acl = ec2.NetworkAcl(vpc, f"{name}_acl", vpc=vpc, subnet_selection=subnets)
    for number, rule in enumerate(rules, start=1):
        begin, end = rule.ports
        acl.add_entry(
            f"rule_{number}",
            cidr=ec2.AclCidr.ipv4(rule.cidr),
            rule_number=number * 10,
            traffic=ec2.AclTraffic.tcp_port_range(begin, end),
            direction=rule.direction,
        )
