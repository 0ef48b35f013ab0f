"""What Glue writes about jobs: logs, Spark's events, and with which keys."""

from aws_cdk import Stack
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk.constructs.logs import log_group
from lakekit.config.environment import Environment

# Of Python's output and of Spark: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuous-logging.html
STREAMS = ("output", "error")


class JobLogs(Construct):
    """A security configuration that all jobs share, and for each job its log groups."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        key: kms.IKey,
        log_key: kms.IKey,
        events: tuple[s3.IBucket, str],
    ) -> None:
        super().__init__(scope, id)
        self._environment, self._log_key = environment, log_key
        self._bucket, self._prefix = events
        self.security = glue.SecurityConfiguration(
            self,
            "security",
            security_configuration_name=environment.name("jobs"),
            s3_encryption=glue.S3Encryption.kms(key),
            cloud_watch_encryption=glue.CloudWatchEncryption.kms(log_key),
            job_bookmarks_encryption=glue.JobBookmarksEncryption.client_side_kms(key),
        )

    def spark_ui(self, job: str) -> glue.SparkUIProps:
        """Return where a job leaves what Spark's history server shows of it."""
        return glue.SparkUIProps(bucket=self._bucket, prefix=f"/{self._prefix}{job}")

    def watch(self, job: str, role: iam.Role) -> None:
        """Make the log groups of a job, and let its role write them, events and metrics.

        Their names are Glue's choice for a job with a security configuration.
        """
        # In a scope of its own: `security` is one of this construct.
        scope = Construct(self, job)
        folder = f"/aws-glue/jobs/{self._environment.name('jobs')}-role/{role.role_name}"
        groups = [
            log_group(
                scope, each, f"{folder}/{each}", environment=self._environment, key=self._log_key
            )
            for each in STREAMS
        ]
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["logs:AssociateKmsKey", "logs:CreateLogStream", "logs:PutLogEvents"],
                resources=[each.log_group_arn for each in groups],
            )
        )
        self._allow_what_glue_makes(role)
        self._allow_events(job, role)

    def _allow_what_glue_makes(self, role: iam.Role) -> None:
        """Glue asks for the group before it writes, and has groups of its own for what it finds."""
        group = Stack.of(self).format_arn(service="logs", resource="log-group:/aws-glue/*")
        actions = ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"]
        role.add_to_policy(iam.PolicyStatement(actions=actions, resources=[group]))
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["cloudwatch:PutMetricData"],
                resources=["*"],
                conditions={"StringEquals": {"cloudwatch:namespace": "Glue"}},
            )
        )

    def _allow_events(self, job: str, role: iam.Role) -> None:
        """Spark writes an event log under another name, and renames it at its end."""
        own = self._bucket.arn_for_objects(f"{self._prefix}{job}/*")
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["s3:GetObject", "s3:PutObject", "s3:DeleteObject",
                         "s3:AbortMultipartUpload"],
                resources=[own],
            )
        )  # fmt: skip
        role.add_to_policy(
            iam.PolicyStatement(actions=["s3:ListBucket"], resources=[self._bucket.bucket_arn])
        )
