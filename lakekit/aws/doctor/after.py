"""What a deployment has left, and what can be confirmed only there."""

from collections.abc import Iterator
from uuid import uuid4

from botocore.exceptions import ClientError

from lakekit.aws.doctor.check import Account, Answer, Check
from lakekit.aws.errors import code_of
from lakekit.aws.object_store import S3ObjectStore
from lakekit.ports import PreconditionFailedError

STACKS = ("storage", "compute", "orchestration", "monitoring")
KEYS = ("data", "logs")
NOT_DEPLOYED = "not deployed"
PROBES = "doctor/"


def stacks(of: Account) -> Iterator[Answer]:
    """How the last deployment of each stack ended."""
    client = of.client("cloudformation")
    more = {"network": of.environment.network, "delivery": of.environment.delivery}
    for part in (*STACKS, *(part for part, wanted in more.items() if wanted)):
        name = of.environment.name(part)
        try:
            (stack,) = client.describe_stacks(StackName=name)["Stacks"]
        except ClientError as error:
            if "does not exist" not in str(error):
                raise
            yield Answer("unknown", name, NOT_DEPLOYED)
            continue
        status = stack["StackStatus"]
        is_sound = status.endswith("_COMPLETE") and "ROLLBACK" not in status
        yield Answer("ok" if is_sound else "failed", name, status)


def keys(of: Account) -> Iterator[Answer]:
    """Whether the environment's keys can be used, and are rotated."""
    client = of.client("kms")
    for part in (*KEYS, *(("trail",) if of.environment.audit else ())):
        alias = f"alias/{of.environment.name(part)}"
        try:
            key = client.describe_key(KeyId=alias)["KeyMetadata"]
        except ClientError as error:
            if code_of(error) != "NotFoundException":
                raise
            yield Answer("unknown", alias, NOT_DEPLOYED)
            continue
        if key["KeyState"] != "Enabled":
            yield Answer("failed", alias, f"is {key['KeyState']}; nothing can be read without it")
        elif client.get_key_rotation_status(KeyId=key["KeyId"])["KeyRotationEnabled"]:
            yield Answer("ok", alias, "enabled, rotated")
        else:
            yield Answer("warning", alias, "enabled, but not rotated")


def notices(of: Account) -> Iterator[Answer]:
    """Whether each address has confirmed that it gets notices."""
    region, number = of.environment.region, of.environment.account
    partition = of.client("sts").meta.partition
    topic = f"arn:{partition}:sns:{region}:{number}:{of.environment.name('failures')}"
    try:
        found = of.client("sns").list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]
    except ClientError as error:
        if code_of(error) not in {"NotFound", "NotFoundException"}:
            raise
        yield Answer("unknown", of.environment.name("failures"), NOT_DEPLOYED)
        return
    arns = {each["Endpoint"]: each["SubscriptionArn"] for each in found}
    for address in of.environment.notify:
        if not arns.get(address, "").startswith("arn:"):
            yield Answer("failed", address, "has not confirmed; open the mail of AWS")
        else:
            yield Answer("ok", address, "gets notices")


def metrics(of: Account) -> Iterator[Answer]:
    """Whether CloudWatch has taken metrics from the functions' logs."""
    found = of.client("cloudwatch").list_metrics(Namespace="Lakekit")["Metrics"]
    names = sorted({each["MetricName"] for each in found})
    if names:
        yield Answer("ok", "Lakekit", f"{len(names)} metrics")
    else:
        yield Answer(
            "unknown", "Lakekit", "no metrics yet; the sweeper prints some each 15 minutes"
        )


def job_logs(of: Account) -> Iterator[Answer]:
    """Whether Glue writes where its security configuration says."""
    prefix = f"/aws-glue/jobs/{of.environment.name('')}"
    found = of.client("logs").describe_log_groups(logGroupNamePrefix=prefix)["logGroups"]
    written = [each["logGroupName"] for each in found if each.get("storedBytes")]
    for name in written:
        yield Answer("ok", name, "has logs")
    if not written:
        yield Answer("unknown", prefix, "no job has written yet")


def conditions(of: Account) -> Iterator[Answer]:
    """Whether S3 refuses to replace an object, in both ways in which Lakekit writes."""
    bucket = of.environment.bucket("landing")
    store = S3ObjectStore(bucket, of.client("s3"))
    key = f"{PROBES}{uuid4()}"
    if not of.probe:
        yield Answer("unknown", bucket, "--probe would write and remove one object")
        return
    tag = store.put(key, b"first", if_absent=True)
    try:
        for what, condition in (
            ("If-None-Match", {"if_absent": True}), ("If-Match", {"if_match": '"0"'})
        ):  # fmt: skip
            try:
                store.put(key, b"second", **condition)
            except PreconditionFailedError:
                yield Answer("ok", what, "S3 refuses to replace the object")
            else:
                yield Answer("failed", what, "S3 replaced the object: runs can overwrite others")
        if store.put(key, b"third", if_match=tag):
            yield Answer("ok", "If-Match of the right object", "S3 replaces it")
        store.delete(key, if_match=tag)
        if store.head(key):
            yield Answer("ok", "If-Match of a deletion", "S3 keeps another object")
        else:
            yield Answer("failed", "If-Match of a deletion", "S3 deleted another object")
    finally:
        of.client("s3").delete_object(Bucket=bucket, Key=key)


CHECKS = (
    Check("stacks", "how the last deployment of each stack ended", stacks, "Templates"),
    Check("keys", "whether the environment's keys are enabled and rotated", keys),
    Check("notices", "whether each address has confirmed its subscription", notices, "Alarms"),
    Check("metrics", "whether CloudWatch takes the metrics", metrics, "Own metrics"),
    Check("job logs", "whether Glue's logs arrive", job_logs, "Log groups of jobs"),
    Check("conditions", "whether S3 refuses to replace an object (--probe)", conditions,
          "Conditional PUT (`If-None-Match`, `If-Match`)"),
)  # fmt: skip
