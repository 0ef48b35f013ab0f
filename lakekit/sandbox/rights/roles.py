"""What each role of the templates may do, and where requests go to."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from lakekit.sandbox.rights.policies import Statement, parse_document
from lakekit.sandbox.rights.request import Place

Properties = Mapping[str, Any]
Roles = dict[str, tuple[Statement, ...]]
POLICIES = ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy")


class Resource(Protocol):
    """A resource of a template, with its properties resolved."""

    @property
    def ref(self) -> str: ...
    @property
    def properties(self) -> Properties: ...


class Found(Protocol):
    """All resources of the templates."""

    def of_type(self, kind: str) -> Iterable[Resource]:
        """Return the resources of one type."""
        ...


def roles_of(resources: Found) -> Roles:
    """Return the statements of each role, by its name."""
    found: Roles = {each.ref: () for each in resources.of_type("AWS::IAM::Role")}
    for policy in (each for kind in POLICIES for each in resources.of_type(kind)):
        for role in policy.properties["Roles"]:
            found[role] += parse_document(policy.properties["PolicyDocument"])
    return found


def place_of(resources: Found, account: str, region: str) -> Place:
    """Return the account and region, and the keys of the buckets and topics there."""
    buckets = {each.ref: _key(each.properties) for each in resources.of_type("AWS::S3::Bucket")}
    topics = {
        each.ref: each.properties.get("KmsMasterKeyId")
        for each in resources.of_type("AWS::SNS::Topic")
    }
    return Place(account, region, {name: key for name, key in (buckets | topics).items() if key})


def _key(bucket: Properties) -> str | None:
    rules = bucket.get("BucketEncryption", {}).get("ServerSideEncryptionConfiguration", [])
    keys = [rule["ServerSideEncryptionByDefault"].get("KMSMasterKeyID") for rule in rules]
    return next(filter(None, keys), None)
