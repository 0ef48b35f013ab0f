"""Where people query with Athena: a workgroup with its results, a key and a limit."""

from aws_cdk import aws_athena as athena
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from lakekit.config.environment import Environment

RESULTS = "athena/"
RESULT_DAYS = 30


class Workgroup(Construct):
    """An Athena workgroup whose queries cannot choose another place, key or limit."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        results: s3.IBucket,
        key: kms.IKey,
    ) -> None:
        super().__init__(scope, id)
        athena.CfnWorkGroup(
            self,
            "workgroup",
            name=environment.name("queries"),
            description=f"Queries of {environment.database}",
            recursive_delete_option=environment.storage.removal == "destroy",
            work_group_configuration=athena.CfnWorkGroup.WorkGroupConfigurationProperty(
                bytes_scanned_cutoff_per_query=environment.queries.scan_limit_gb * 10**9,
                enforce_work_group_configuration=True,
                publish_cloud_watch_metrics_enabled=True,
                engine_version=athena.CfnWorkGroup.EngineVersionProperty(
                    selected_engine_version="Athena engine version 3"
                ),
                result_configuration=athena.CfnWorkGroup.ResultConfigurationProperty(
                    output_location=f"s3://{results.bucket_name}/{RESULTS}",
                    encryption_configuration=athena.CfnWorkGroup.EncryptionConfigurationProperty(
                        encryption_option="SSE_KMS", kms_key=key.key_arn
                    ),
                ),
            ),
        )
