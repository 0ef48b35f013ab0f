"""Copies of landings and tables in another region, in buckets that are there already."""

from collections.abc import Collection, Iterator
from typing import Annotated, Self

from pydantic import StringConstraints, model_validator

from lakekit.models import Fault, Model

BucketArn = Annotated[
    str, StringConstraints(pattern=r"^arn:aws[a-z-]*:s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")
]
# An alias is no key: S3 takes none of another account.
KeyArn = Annotated[
    str,
    StringConstraints(
        pattern=r"^arn:aws[a-z-]*:kms:[a-z]{2}(-[a-z]+)+-\d:\d{12}:key/(mrk-)?[0-9a-f-]{32,36}$"
    ),
]
PARTITIONS = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}


class Replication(Model):
    """Where S3 copies what is written from now on; by ARN, as others may own it.

    landing, lake: a bucket each, with versions. key: that of the copies; it says in which region
    and account the buckets are.
    """

    landing: BucketArn
    lake: BucketArn
    key: KeyArn

    @model_validator(mode="after")
    def _has_a_bucket_each(self) -> Self:
        if self.landing == self.lake:
            raise ValueError("landing and lake are the same bucket; give each copy one of its own")
        return self

    @property
    def region(self) -> str:
        """The region of the copies."""
        return self.key.split(":")[3]

    @property
    def account(self) -> str:
        """The account that owns the copies."""
        return self.key.split(":")[4]

    @property
    def names(self) -> dict[str, str]:
        """The name of each copy's bucket, by what it copies."""
        arns = {"landing": self.landing, "lake": self.lake}
        return {part: arn.rpartition(":")[2] for part, arn in arns.items()}


def replication_faults(
    replication: Replication, region: str, own: Collection[str]
) -> Iterator[Fault]:
    """Yield what S3 cannot copy from a region, or not so that it helps if the region fails.

    own: the buckets that are there to be copied.
    """
    place = ("storage", "replication")
    if replication.region == region:
        yield Fault(
            (*place, "key"), f"is in {region}, as the environment is; a copy is in another region"
        )
    for part, name in replication.names.items():
        if name in own:
            yield Fault((*place, part), "is a bucket of the environment itself; name another one")
    ours = next((each for start, each in PARTITIONS.items() if region.startswith(start)), "aws")
    for field in ("landing", "lake", "key"):
        theirs = getattr(replication, field).split(":")[1]
        if theirs != ours:
            yield Fault(
                (*place, field),
                f"is in the partition {theirs}, and {region} in {ours}; S3 copies between "
                "regions of one partition",
            )
