"""Records of a Kinesis stream become files of the inbox: Firehose closes one by size or age."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kinesis as kinesis
from aws_cdk import aws_kinesisfirehose as firehose
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk.constructs.logs import log_group
from cdk.constructs.roles import service_role
from lakekit import layout
from lakekit.config.environment import Environment
from lakekit.config.infrastructure.streams import Stream

# By its name RouteFile knows what a file holds.
FILE_EXTENSION = ".jsonl.gz"
LOG_STREAM = "delivery"


class InboxStream(Construct):
    """A stream of its own, and what brings its records into the inbox as they are.

    Nothing looks into a record on its way, so each must end with a line feed.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        environment: Environment,
        stream: Stream,
        landing: s3.IBucket,
        keys: tuple[kms.IKey, kms.IKey],
    ) -> None:
        super().__init__(scope, stream.contract)
        name, (key, log_key) = environment.name(stream.contract), keys
        records = kinesis.Stream(
            self,
            "records",
            stream_name=name,
            stream_mode=kinesis.StreamMode.ON_DEMAND,
            encryption=kinesis.StreamEncryption.KMS,
            encryption_key=key,
        )
        group = log_group(
            self,
            "logs",
            f"/aws/kinesisfirehose/{name}",
            environment=environment,
            key=log_key,
        )
        logs.CfnLogStream(
            self, "log", log_group_name=group.log_group_name, log_stream_name=LOG_STREAM
        )
        role = service_role(self, "role", "firehose")
        prefix = layout.inbox_prefix(stream.source, stream.contract)
        rights = _rights(self, records, landing.arn_for_objects(f"{prefix}*"), landing, key)
        for statement in (*rights, _may_log(group)):
            role.add_to_policy(statement)
        delivery = firehose.CfnDeliveryStream(
            self,
            "delivery",
            delivery_stream_name=name,
            delivery_stream_type="KinesisStreamAsSource",
            kinesis_stream_source_configuration=(
                firehose.CfnDeliveryStream.KinesisStreamSourceConfigurationProperty(
                    kinesis_stream_arn=records.stream_arn, role_arn=role.role_arn
                )
            ),
            extended_s3_destination_configuration=(
                firehose.CfnDeliveryStream.ExtendedS3DestinationConfigurationProperty(
                    bucket_arn=landing.bucket_arn,
                    role_arn=role.role_arn,
                    prefix=prefix,
                    file_extension=FILE_EXTENSION,
                    compression_format="GZIP",
                    buffering_hints=firehose.CfnDeliveryStream.BufferingHintsProperty(
                        size_in_m_bs=stream.buffer_mb, interval_in_seconds=stream.buffer_seconds
                    ),
                    processing_configuration=(
                        firehose.CfnDeliveryStream.ProcessingConfigurationProperty(enabled=False)
                    ),
                    encryption_configuration=(
                        firehose.CfnDeliveryStream.EncryptionConfigurationProperty(
                            kms_encryption_config=(
                                firehose.CfnDeliveryStream.KMSEncryptionConfigProperty(
                                    awskms_key_arn=key.key_arn
                                )
                            )
                        )
                    ),
                    cloud_watch_logging_options=(
                        firehose.CfnDeliveryStream.CloudWatchLoggingOptionsProperty(
                            enabled=True,
                            log_group_name=group.log_group_name,
                            log_stream_name=LOG_STREAM,
                        )
                    ),
                )
            ),
        )
        # It asks for its rights when it is made.
        delivery.node.add_dependency(role)


def _rights(
    scope: Construct, records: kinesis.Stream, objects: str, landing: s3.IBucket, key: kms.IKey
) -> list[iam.PolicyStatement]:
    """Return the rights to read the stream and to write one folder of the inbox."""
    region = Stack.of(scope).region
    return [
        iam.PolicyStatement(
            actions=["kinesis:DescribeStream", "kinesis:GetRecords", "kinesis:GetShardIterator",
                     "kinesis:ListShards"],
            resources=[records.stream_arn],
        ),
        iam.PolicyStatement(
            actions=["s3:AbortMultipartUpload", "s3:PutObject"], resources=[objects]
        ),
        iam.PolicyStatement(
            actions=["s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads"],
            resources=[landing.bucket_arn],
        ),
        iam.PolicyStatement(
            actions=["kms:Decrypt", "kms:GenerateDataKey"],
            resources=[key.key_arn],
            conditions={
                "StringEquals": {
                    "kms:ViaService": [f"{each}.{region}.amazonaws.com" for each in
                                       ("kinesis", "s3")]
                }
            },
        ),
    ]  # fmt: skip


def _may_log(group: logs.LogGroup) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=["logs:PutLogEvents"], resources=[group.log_group_arn])
