"""Copies of landings and tables in another region: who makes them, of what, and with which key.

S3 copies what is written from now on, and a deletion as a deletion: in a bucket with versions it
takes nothing away. Change sets of merges are left out, as a merge removes them itself.
"""

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk.constructs.bucket import PrivateBucket
from cdk.constructs.keys import use_through
from cdk.constructs.roles import service_role
from lakekit.config.infrastructure.replication import Replication

RULE = "copy"


class Copies(Construct):
    """Has S3 copy objects of buckets, each below a prefix, to what the environment names.

    sources: `landing` and `lake`, with the prefix of what is copied.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        replication: Replication,
        sources: dict[str, tuple[PrivateBucket, str]],
        key: kms.IKey,
    ) -> None:
        super().__init__(scope, id)
        self._replication = replication
        self._is_foreign = replication.account != Stack.of(self).account
        role = service_role(self, "role", "s3")
        for part, (bucket, prefix) in sources.items():
            copy = str(getattr(replication, part))
            bucket.resource.replication_configuration = (
                s3.CfnBucket.ReplicationConfigurationProperty(
                    role=role.role_arn, rules=[self._rule(copy, prefix)]
                )
            )
            for statement in (*_read(bucket, prefix), self._write(copy, prefix)):
                role.add_to_policy(statement)
        for statement in self._keys(key):
            role.add_to_policy(statement)
        # Whoever owns the copies must let it write.
        CfnOutput(self, "Role", value=role.role_arn).override_logical_id("CopyRole")

    def _rule(self, copy: str, prefix: str) -> s3.CfnBucket.ReplicationRuleProperty:
        owner = s3.CfnBucket.AccessControlTranslationProperty(owner="Destination")
        return s3.CfnBucket.ReplicationRuleProperty(
            id=RULE,
            priority=1,
            status="Enabled",
            filter=s3.CfnBucket.ReplicationRuleFilterProperty(prefix=prefix),
            delete_marker_replication=s3.CfnBucket.DeleteMarkerReplicationProperty(
                status="Enabled"
            ),
            source_selection_criteria=s3.CfnBucket.SourceSelectionCriteriaProperty(
                sse_kms_encrypted_objects=s3.CfnBucket.SseKmsEncryptedObjectsProperty(
                    status="Enabled"
                )
            ),
            destination=s3.CfnBucket.ReplicationDestinationProperty(
                bucket=copy,
                account=self._replication.account if self._is_foreign else None,
                access_control_translation=owner if self._is_foreign else None,
                encryption_configuration=s3.CfnBucket.EncryptionConfigurationProperty(
                    replica_kms_key_id=self._replication.key
                ),
                metrics=s3.CfnBucket.MetricsProperty(status="Enabled"),
            ),
        )

    def _write(self, copy: str, prefix: str) -> iam.PolicyStatement:
        own = ["s3:ObjectOwnerOverrideToBucketOwner"] if self._is_foreign else []
        return iam.PolicyStatement(
            actions=["s3:ReplicateDelete", "s3:ReplicateObject", "s3:ReplicateTags", *own],
            resources=[f"{copy}/{prefix}*"],
        )

    def _keys(self, key: kms.IKey) -> list[iam.PolicyStatement]:
        """Return the rights to read with one key and write with the other, through S3 alone."""
        copy = self._replication
        return [
            use_through("s3", Stack.of(self).region, key.key_arn, "Decrypt"),
            use_through("s3", copy.region, copy.key, "Encrypt", "GenerateDataKey"),
        ]


def _read(bucket: PrivateBucket, prefix: str) -> list[iam.PolicyStatement]:
    return [
        iam.PolicyStatement(
            actions=["s3:GetReplicationConfiguration", "s3:ListBucket"],
            resources=[bucket.bucket_arn],
        ),
        iam.PolicyStatement(
            actions=["s3:GetObjectVersionAcl", "s3:GetObjectVersionForReplication",
                     "s3:GetObjectVersionTagging"],
            resources=[bucket.arn_for_objects(f"{prefix}*")],
        ),
    ]  # fmt: skip
