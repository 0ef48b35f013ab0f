"""Private, encrypted, versioned buckets, with policies whose statements say what they refuse."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from lakekit.config.environment import Environment

STALE_UPLOAD_DAYS = 3


def removal_policy(environment: Environment) -> RemovalPolicy:
    """Return what becomes of data when its stack goes.

    Retained data goes if the deployment that would first make it fails: nothing is in it, and its
    name would stop the next attempt.
    """
    if environment.storage.removal == "destroy":
        return RemovalPolicy.DESTROY
    return RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


class PrivateBucket(s3.Bucket):
    """A bucket that nobody outside the account can reach, and nobody without TLS.

    key: that of its objects; without one S3 has a key of its own, as the delivery of access logs
    asks for. logged_to: the bucket with the logs of who reads and writes this one.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        key: kms.IKey | None = None,
        logged_to: s3.IBucket | None = None,
    ) -> None:
        super().__init__(
            scope,
            id,
            bucket_name=environment.bucket(id),
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            bucket_key_enabled=True if key else None,
            versioned=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            server_access_logs_bucket=logged_to,
            server_access_logs_prefix=f"{id}/" if logged_to else None,
            target_object_key_format=(
                s3.TargetObjectKeyFormat.partitioned_prefix(s3.PartitionDateSource.EVENT_TIME)
                if logged_to
                else None
            ),
            removal_policy=removal_policy(environment),
        )
        self._refuse_plain_http()
        if key:
            self._refuse_other_keys(key)
        self.add_lifecycle_rule(
            id="tidy",
            abort_incomplete_multipart_upload_after=Duration.days(STALE_UPLOAD_DAYS),
            noncurrent_version_expiration=Duration.days(environment.storage.noncurrent_days),
            # Of a deleted object the marker is left when its versions have expired.
            expired_object_delete_marker=True,
        )

    def expire(self, prefix: str, days: int) -> None:
        """Expire the objects under a prefix."""
        self.add_lifecycle_rule(
            id=f"expire-{prefix.strip('/')}", prefix=prefix, expiration=Duration.days(days)
        )

    def age(
        self, prefix: str, *, infrequent: int | None, archive: int | None, end: int | None
    ) -> None:
        """Move the objects under a prefix to cheaper classes by their days, and expire them."""
        ages = (
            (s3.StorageClass.INFREQUENT_ACCESS, infrequent),
            (s3.StorageClass.GLACIER_INSTANT_RETRIEVAL, archive),
        )
        if not (infrequent or archive or end):
            return
        self.add_lifecycle_rule(
            id=f"age-{prefix.strip('/')}",
            prefix=prefix,
            transitions=[
                s3.Transition(storage_class=kind, transition_after=Duration.days(days))
                for kind, days in ages
                if days
            ],
            expiration=Duration.days(end) if end else None,
        )

    @property
    def resource(self) -> s3.CfnBucket:
        """The bucket as CloudFormation knows it."""
        bucket = self.node.default_child
        assert isinstance(bucket, s3.CfnBucket)  # noqa: S101
        return bucket

    def send_events(self) -> None:
        """Notify EventBridge of every object; the L2 flag would deploy a function for it."""
        self.resource.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
            event_bridge_configuration=s3.CfnBucket.EventBridgeConfigurationProperty(
                event_bridge_enabled=True
            )
        )

    def _refuse_plain_http(self) -> None:
        everything = [self.bucket_arn, self.arn_for_objects("*")]
        self._refuse("RefusePlainHttp", ["s3:*"], everything, Bool={"aws:SecureTransport": "false"})
        self._refuse("RefuseOldTls", ["s3:*"], everything, NumericLessThan={"s3:TlsVersion": "1.2"})

    def _refuse_other_keys(self, key: kms.IKey) -> None:
        """Without a wish the bucket's key is taken; another wish would hide an object from us."""
        header, objects = "s3:x-amz-server-side-encryption", [self.arn_for_objects("*")]
        self._refuse(
            "RefuseOtherEncryption",
            ["s3:PutObject"],
            objects,
            StringNotEqualsIfExists={header: "aws:kms"},
        )
        self._refuse(
            "RefuseOtherKeys",
            ["s3:PutObject"],
            objects,
            StringNotEqualsIfExists={f"{header}-aws-kms-key-id": key.key_arn},
        )

    def _refuse(
        self, sid: str, actions: list[str], resources: list[str], **conditions: dict[str, str]
    ) -> None:
        self.add_to_resource_policy(
            iam.PolicyStatement(
                sid=sid,
                effect=iam.Effect.DENY,
                principals=[iam.AnyPrincipal()],
                actions=actions,
                resources=resources,
                conditions=conditions,
            )
        )
