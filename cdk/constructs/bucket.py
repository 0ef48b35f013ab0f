"""A private, encrypted, versioned bucket."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from lakekit.config.environment import Environment


def removal_policy(environment: Environment) -> RemovalPolicy:
    """Return what becomes of data when its stack goes.

    Retained data goes if the deployment that would first make it fails: nothing is in it, and its
    name would stop the next attempt.
    """
    if environment.storage.removal == "destroy":
        return RemovalPolicy.DESTROY
    return RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


class DataBucket(s3.Bucket):
    """A bucket that only TLS, its key and named roles can reach."""

    def __init__(
        self, scope: Construct, id: str, *, environment: Environment, key: kms.IKey
    ) -> None:
        storage = environment.storage
        super().__init__(
            scope,
            id,
            bucket_name=environment.bucket(id),
            encryption=s3.BucketEncryption.KMS,
            encryption_key=key,
            bucket_key_enabled=True,
            versioned=True,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            removal_policy=removal_policy(environment),
        )
        self.add_lifecycle_rule(
            id="tidy",
            abort_incomplete_multipart_upload_after=Duration.days(3),
            noncurrent_version_expiration=Duration.days(storage.noncurrent_days),
        )

    def expire(self, prefix: str, days: int) -> None:
        """Expire the objects under a prefix."""
        self.add_lifecycle_rule(
            id=f"expire-{prefix.strip('/')}", prefix=prefix, expiration=Duration.days(days)
        )

    def send_events(self) -> None:
        """Notify EventBridge of every object; the L2 flag would deploy a function for it."""
        bucket = self.node.default_child
        assert isinstance(bucket, s3.CfnBucket)  # noqa: S101
        bucket.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
            event_bridge_configuration=s3.CfnBucket.EventBridgeConfigurationProperty(
                event_bridge_enabled=True
            )
        )
