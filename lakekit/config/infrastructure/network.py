"""The network that functions and jobs of an environment are in: none, one of its own, or yours."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from lakekit.models import Fault, Model

DEFAULT_CIDR = "10.0.0.0/16"
# AWS takes /16 at most. With less than /22 a zone has no room for the workers of two merges.
WIDEST, NARROWEST = 16, 22
# Private in the sense of RFC 1918, and of RFC 6598, which companies use when they run out of it.
_PRIVATE = [IPv4Network(each) for each in
            ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")]  # fmt: skip


def _check_cidr(text: str) -> str:
    try:
        network = IPv4Network(text, strict=False)
    except ValueError:
        raise ValueError(f"'{text}' is not a range of IPv4 addresses like {DEFAULT_CIDR}") from None
    if "/" not in text or not WIDEST <= network.prefixlen <= NARROWEST:
        raise ValueError(f"must have a size from /{WIDEST} to /{NARROWEST}, such as {DEFAULT_CIDR}")
    if str(network) != text:
        raise ValueError(f"'{text}' is an address within {network}; write the range, {network}")
    if not any(network.subnet_of(each) for each in _PRIVATE):
        raise ValueError(
            f"{text} is not private; take a range within {', '.join(map(str, _PRIVATE))}"
        )
    return text


Cidr = Annotated[str, AfterValidator(_check_cidr)]
VpcId = Annotated[str, StringConstraints(pattern=r"^vpc-([0-9a-f]{8}|[0-9a-f]{17})$")]
SubnetId = Annotated[str, StringConstraints(pattern=r"^subnet-([0-9a-f]{8}|[0-9a-f]{17})$")]
Zone = Annotated[str, StringConstraints(pattern=r"^[a-z]{2}(-[a-z]+)+-\d[a-z]$")]


class Network(Model):
    """Without `vpc_id` a VPC is made, with it an existing one is used.

    cidr, zones: of a VPC that is made. subnets: of an existing one, private, by their zones.
    """

    cidr: Cidr | None = None
    zones: Literal[2, 3] | None = None
    vpc_id: VpcId | None = None
    subnets: Annotated[dict[Zone, SubnetId], Field(max_length=3)] = {}

    @model_validator(mode="after")
    def _is_one_or_the_other(self) -> Self:
        if self.vpc_id is None and self.subnets:
            raise ValueError("subnets are those of an existing VPC; name it with vpc_id")
        if self.vpc_id and (self.cidr or self.zones):
            raise ValueError("cidr and zones are of a VPC that is made; remove them, or vpc_id")
        if self.vpc_id and len(self.subnets) < 2:
            raise ValueError(
                "with vpc_id, name under subnets a private one in two or three zones, "
                "such as {eu-west-1a: subnet-…, eu-west-1b: subnet-…}"
            )
        if len(set(self.subnets.values())) < len(self.subnets):
            raise ValueError("two zones have the same subnet; a subnet is in one zone")
        return self

    @property
    def block(self) -> IPv4Network:
        """The addresses of a VPC that is made."""
        return IPv4Network(self.cidr or DEFAULT_CIDR)

    @property
    def zone_count(self) -> int:
        """In how many zones it is."""
        return len(self.subnets) or self.zones or 2


def parse_network(value: Any) -> Any:
    """Return what a file says under `network`, with a mapping in place of a word.

    Raises:
        ValueError: It is another word.

    Example:
        >>> parse_network("none"), parse_network("vpc")
        (None, {})
    """
    if isinstance(value, str) and value not in ("none", "vpc"):
        raise ValueError(f"'{value}' is not none, vpc, or a mapping with cidr or with vpc_id")
    return {"none": None, "vpc": {}}[value] if isinstance(value, str) else value


def lineage_faults(network: Network, url: str) -> Iterator[Fault]:
    """Yield an address of lineage that no function in a network that is made can call."""
    if network.vpc_id is None and not url.startswith("s3:"):
        yield Fault(
            ("lineage", "url"),
            "the functions that call it have no way to the internet in a network that is made; "
            "name s3://bucket/prefix, or use a VPC of yours with a way there",
        )


def zone_faults(network: Network, region: str) -> Iterator[Fault]:
    """Yield the zones of an existing VPC that are not of the environment's region."""
    for zone in network.subnets:
        if zone[:-1] != region:
            yield Fault(
                ("network", "subnets", zone),
                f"is not a zone of {region}; the VPC of an environment must be in its region",
            )
