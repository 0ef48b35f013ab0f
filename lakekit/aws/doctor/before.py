"""What must be there before the first deployment."""

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import ClientError

from lakekit.aws.doctor.check import Account, Answer, Check, State
from lakekit.aws.errors import code_of
from lakekit.config.auth import Secret

# Signatures are refused beyond five minutes.
LARGEST_SKEW, NOTABLE_SKEW = 300, 30
# Of the synthesizer that `make synth` uses.
BOOTSTRAP, LEAST_BOOTSTRAP = "/cdk-bootstrap/hnb659fds/version", 6
# What all functions reserve together, and what Lambda keeps for all others.
RESERVED, UNRESERVED = 631, 100
# More of it, for ShareTable and for PauseSchedules.
SHARING, PAUSING = 5, 1
CONNECT_SECONDS = 5
# As many as a zone of the smallest network that is made has for the workers of two merges.
LEAST_ADDRESSES = 123


def account(of: Account) -> Iterator[Answer]:
    """Whether the credentials are of the environment's account."""
    caller = of.client("sts").get_caller_identity()
    if caller["Account"] == of.environment.account:
        yield Answer("ok", caller["Account"], f"as {caller['Arn']}")
    else:
        text = f"the credentials are of {caller['Account']} ({caller['Arn']}); choose others"
        yield Answer("failed", of.environment.account, text)


def clock(of: Account) -> Iterator[Answer]:
    """How far this machine's clock is from that of AWS."""
    headers = of.client("sts").get_caller_identity()["ResponseMetadata"]["HTTPHeaders"]
    skew = abs((datetime.now(UTC) - parsedate_to_datetime(headers["date"])).total_seconds())
    state: State = "failed" if skew > LARGEST_SKEW else "warning" if skew > NOTABLE_SKEW else "ok"
    more = "; AWS refuses signatures beyond 300 s, so set the clock" if state != "ok" else ""
    yield Answer(state, "this machine", f"{skew:.0f} s from AWS{more}")


def bootstrap(of: Account) -> Iterator[Answer]:
    """Whether the CDK may deploy into the account and the region."""
    subject, hint = of.environment.region, (
        f"call cdk bootstrap aws://{of.environment.account}/{of.environment.region}"
    )  # fmt: skip
    try:
        found = of.client("ssm").get_parameter(Name=BOOTSTRAP)["Parameter"]["Value"]
    except ClientError as error:
        if code_of(error) != "ParameterNotFound":
            raise
        yield Answer("failed", subject, f"not bootstrapped; {hint}")
        return
    if int(found) < LEAST_BOOTSTRAP:
        yield Answer("failed", subject, f"version {found}, and {LEAST_BOOTSTRAP} is needed; {hint}")
    else:
        yield Answer("ok", subject, f"version {found}")


def concurrency(of: Account) -> Iterator[Answer]:
    """Whether Lambda's concurrency suffices for what functions reserve."""
    limit = of.client("lambda").get_account_settings()["AccountLimit"]["ConcurrentExecutions"]
    reserves = of.environment.functions.reserve_concurrency
    own = RESERVED + (SHARING if of.environment.shares_tables else 0)
    own += PAUSING if of.environment.pause else 0
    wanted = own + UNRESERVED if reserves else UNRESERVED
    if limit >= wanted:
        yield Answer("ok", "Lambda", f"{limit} concurrent executions, {wanted} are needed")
    else:
        text = f"{limit} concurrent executions, and {wanted} are needed; ask for a higher quota"
        yield Answer("failed", "Lambda", text)


def network(of: Account) -> Iterator[Answer]:
    """Whether an existing VPC is in the account and region, and its subnets where it says."""
    given = of.environment.network
    if given is None or given.vpc_id is None:
        return
    client, wanted = of.client("ec2"), {subnet: zone for zone, subnet in given.subnets.items()}
    vpcs = client.describe_vpcs(Filters=[_ids("vpc-id", given.vpc_id)])["Vpcs"]
    if not vpcs:
        place = f"account {of.environment.account} and {of.environment.region}"
        yield Answer("failed", given.vpc_id, f"is no VPC of {place}; look in which it is")
        return
    yield Answer("ok", given.vpc_id, vpcs[0]["CidrBlock"])
    answer = client.describe_subnets(Filters=[_ids("subnet-id", *wanted)])["Subnets"]
    found = {each["SubnetId"]: each for each in answer}
    for subnet, zone in wanted.items():
        yield _subnet(subnet, zone, given.vpc_id, found.get(subnet))


def copies(of: Account) -> Iterator[Answer]:
    """Whether the buckets of copies are there, where their key says, and keep versions."""
    wanted = of.environment.storage.replication
    if wanted is None:
        return
    client = of.client("s3")
    for name in wanted.names.values():
        try:
            # S3 says of none that it is in us-east-1.
            region = client.get_bucket_location(Bucket=name)["LocationConstraint"] or "us-east-1"
            status = client.get_bucket_versioning(Bucket=name).get("Status")
        except ClientError as error:
            if code_of(error) == "NoSuchBucket":
                yield Answer("failed", name, "there is no such bucket; make it first")
            else:
                text = f"{code_of(error)}; ask account {wanted.account}, which owns it"
                yield Answer("unknown", name, text)
            continue
        if region != wanted.region:
            yield Answer("failed", name, f"is in {region}, and the key of copies {wanted.region}")
        elif status != "Enabled":
            yield Answer("failed", name, "keeps no versions, and S3 copies nothing to it")
        else:
            yield Answer("ok", name, f"in {region}, with versions")


def secrets(of: Account) -> Iterator[Answer]:
    """Whether each secret that sources and lineage name is there; no value is shown."""
    client = of.client("secretsmanager")
    found: dict[str, str | None] = {}
    named = [secret for source in of.sources for _, secret in source.secrets()]
    if of.environment.lineage and of.environment.lineage.secret:
        named.append(Secret(name=of.environment.lineage.secret))
    for secret in named:
        name = secret.name.replace("{environment}", of.environment.environment)
        if name not in found:
            found[name] = _read(client, name)
        subject = f"{name}#{secret.field}" if secret.field else name
        yield _secret(subject, secret, found[name])


def origins(of: Account) -> Iterator[Answer]:
    """Whether each source's origin can be connected to from this machine."""
    for source in of.sources:
        if not source.base_url:  # files alone
            continue
        parts = urlsplit(source.base_url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        try:
            with socket.create_connection((host, port), timeout=CONNECT_SECONDS) as connection:
                if parts.scheme == "https":
                    context = ssl.create_default_context()
                    with context.wrap_socket(connection, server_hostname=host):
                        pass
        except OSError as error:
            reason = error.strerror or str(error)
            yield Answer("failed", f"{source.source} ({host}:{port})", reason)
        else:
            yield Answer("ok", f"{source.source} ({host}:{port})", "connected, from this machine")


def _ids(name: str, *values: str) -> dict[str, Any]:
    """Return a filter: asked by one, EC2 leaves out what is not there, and raises nothing."""
    return {"Name": name, "Values": [*values]}


def _subnet(subnet: str, zone: str, vpc: str, found: dict[str, Any] | None) -> Answer:
    if found is None:
        return Answer("failed", subnet, "there is no such subnet in the account and region")
    if found["VpcId"] != vpc:
        return Answer("failed", subnet, f"is in {found['VpcId']}; name subnets of {vpc}")
    if found["AvailabilityZone"] != zone:
        there = found["AvailabilityZone"]
        return Answer("failed", subnet, f"is in {there}; name it under that zone, not {zone}")
    free = found["AvailableIpAddressCount"]
    if free < LEAST_ADDRESSES:
        text = f"{free} free addresses, and each worker of a job takes one"
        return Answer("warning", subnet, text)
    return Answer("ok", subnet, f"in {zone}, with {free} free addresses")


def _read(client: Any, name: str) -> str | None:
    try:
        text: str = client.get_secret_value(SecretId=name).get("SecretString", "")
    except ClientError as error:
        if code_of(error) != "ResourceNotFoundException":
            raise
        return None
    return text


def _secret(subject: str, secret: Secret, text: str | None) -> Answer:
    if text is None:
        return Answer("failed", subject, "there is no such secret; create it")
    if not text:
        return Answer("failed", subject, "has no text")
    try:
        secret.value_in(text)
    except ValueError as error:
        return Answer("failed", subject, str(error))
    return Answer("ok", subject, "has a value")


CHECKS = (
    Check("account", "whether the credentials are of the environment's account", account),
    Check("clock", "how far this machine's clock is from that of AWS", clock),
    Check("bootstrap", "whether the CDK may deploy into the account and the region", bootstrap),
    Check("concurrency", "whether Lambda's quota suffices", concurrency),
    Check("network", "whether the VPC and its subnets are of the account and region", network,
          "Network"),
    Check("copies", "whether the buckets of copies are there, with versions", copies),
    Check("secrets", "whether each secret of a source and of lineage is there", secrets),
    Check("origins", "whether each source's origin can be reached from here", origins),
)  # fmt: skip
