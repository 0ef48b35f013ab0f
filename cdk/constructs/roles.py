"""Roles of services, which they take for this account alone."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct


def service_role(scope: Construct, id: str, service: str) -> iam.Role:
    """Return a role that a service takes, but not on behalf of another account."""
    ours = {"StringEquals": {"aws:SourceAccount": Stack.of(scope).account}}
    principal = iam.ServicePrincipal(f"{service}.amazonaws.com", conditions=ours)
    return iam.Role(scope, id, assumed_by=principal)
