"""The record of who has read and written data: CloudTrail, and AWS Config where it is wanted."""

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_cloudtrail as cloudtrail
from aws_cdk import aws_config as config
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk.constructs.bucket import PrivateBucket
from cdk.constructs.keys import EnvironmentKey
from cdk.constructs.logs import log_group
from cdk.constructs.roles import service_role
from lakekit.config.environment import Environment

RECORDED = ("AWS::KMS::Key", "AWS::S3::Bucket")
# Of the resources with the environment's tag.
RULES = (
    "CMK_BACKING_KEY_ROTATION_ENABLED",
    "S3_BUCKET_LEVEL_PUBLIC_ACCESS_PROHIBITED",
    "S3_BUCKET_SSL_REQUESTS_ONLY",
    "S3_BUCKET_VERSIONING_ENABLED",
)


class AuditTrail(Construct):
    """A trail of the objects of some buckets, in a bucket and with a key of its own."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        log_key: kms.IKey,
        logged_to: s3.IBucket,
        watched: tuple[s3.IBucket, ...],
    ) -> None:
        super().__init__(scope, id)
        self._environment, self._stack = environment, Stack.of(self)
        audit = environment.audit
        assert audit  # noqa: S101
        # In the stack, as the other keys and buckets are.
        self.key = EnvironmentKey(scope, "trail", environment=environment)
        self.bucket = PrivateBucket(
            scope, "trail", environment=environment, key=self.key, logged_to=logged_to
        )
        self.bucket.expire("", audit.days)
        self._trail(log_key, watched)
        if audit.config:
            self._rules(self._recorder() if audit.config == "recorder" else None)

    def _trail(self, log_key: kms.IKey, watched: tuple[s3.IBucket, ...]) -> None:
        name = self._environment.name("data")
        arn = self._stack.format_arn(
            service="cloudtrail", resource="trail", resource_name=name,
            arn_format=ArnFormat.SLASH_RESOURCE_NAME,
        )  # fmt: skip
        self._allow("cloudtrail", "AWSLogs/*", arn)
        group = log_group(
            self, "logs", f"/aws/cloudtrail/{name}", environment=self._environment, key=log_key
        )
        role = service_role(self, "role", "cloudtrail")
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["logs:CreateLogStream", "logs:PutLogEvents"],
                resources=[group.log_group_arn],
            )
        )
        trail = cloudtrail.CfnTrail(
            self,
            "trail",
            trail_name=name,
            is_logging=True,
            s3_bucket_name=self.bucket.bucket_name,
            kms_key_id=self.key.key_arn,
            enable_log_file_validation=True,
            cloud_watch_logs_log_group_arn=group.log_group_arn,
            cloud_watch_logs_role_arn=role.role_arn,
            advanced_event_selectors=[
                {
                    "name": "Objects",
                    "fieldSelectors": [
                        {"field": "eventCategory", "equalTo": ["Data"]},
                        {"field": "resources.type", "equalTo": ["AWS::S3::Object"]},
                        {
                            "field": "resources.ARN",
                            "startsWith": [f"{each.bucket_arn}/" for each in watched],
                        },
                    ],
                }
            ],
        )
        assert self.bucket.policy  # noqa: S101
        trail.node.add_dependency(self.bucket.policy, role)

    def _recorder(self) -> Construct:
        """Record what buckets and keys are like, with the role that AWS has for it."""
        self._allow("config", "config/AWSLogs/*", None)
        role = self._stack.format_arn(
            service="iam", region="", resource="role",
            resource_name="aws-service-role/config.amazonaws.com/AWSServiceRoleForConfig",
        )  # fmt: skip
        recorder = config.CfnConfigurationRecorder(
            self,
            "recorder",
            role_arn=role,
            recording_group={"allSupported": False, "resourceTypes": list(RECORDED)},
        )
        channel = config.CfnDeliveryChannel(
            self,
            "channel",
            s3_bucket_name=self.bucket.bucket_name,
            s3_key_prefix="config",
            s3_kms_key_arn=self.key.key_arn,
        )
        assert self.bucket.policy  # noqa: S101
        channel.node.add_dependency(self.bucket.policy)
        return recorder

    def _rules(self, recorder: Construct | None) -> None:
        for each in RULES:
            rule = config.CfnConfigRule(
                self,
                each.lower(),
                config_rule_name=self._environment.name(each.lower()),
                source={"owner": "AWS", "sourceIdentifier": each},
                scope={"tagKey": "environment", "tagValue": self._environment.environment},
            )
            if recorder:
                rule.node.add_dependency(recorder)

    def _allow(self, service: str, keys: str, source_arn: str | None) -> None:
        """Let a service write below a prefix of the bucket, with the key, for this account."""
        principal = iam.ServicePrincipal(f"{service}.amazonaws.com")
        ours = {"aws:SourceAccount": self._stack.account}
        source = {**ours, **({"aws:SourceArn": source_arn} if source_arn else {})}
        sid = service.capitalize()
        for name, actions, resource in (
            ("Asks", ["s3:GetBucketAcl", "s3:ListBucket"], self.bucket.bucket_arn),
            ("Writes", ["s3:PutObject"], self.bucket.arn_for_objects(keys)),
        ):
            self.bucket.add_to_resource_policy(
                iam.PolicyStatement(
                    sid=f"{sid}{name}",
                    principals=[principal],
                    actions=actions,
                    resources=[resource],
                    conditions={"StringEquals": source},
                )
            )
        self.key.add_to_resource_policy(
            iam.PolicyStatement(
                sid=f"{sid}Encrypts",
                principals=[principal],
                actions=["kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKey*"],
                resources=["*"],
                conditions={"StringEquals": source},
            )
        )
