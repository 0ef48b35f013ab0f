"""One Glue job on Spark, with the Iceberg catalog `lake`."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from cdk.constructs.job_logs import JobLogs
from cdk.constructs.placement import allow_connections, connection_names
from cdk.constructs.roles import service_role
from cdk.constructs.wheels import Wheels
from lakekit.config.environment import Environment
from lakekit.config.workers import Workers
from lakekit.spark_conf import CATALOG, SETTINGS


def spark_conf(warehouse: str, *, tiering: bool) -> str:
    """Return the value of `--conf`: Glue takes the key once, so the rest rides in its value.

    With tiering, data files begin in the class in which S3 finds the cheapest tier by itself.
    """
    catalog = f"spark.sql.catalog.{CATALOG}"
    settings = {
        **SETTINGS,
        f"{catalog}.catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
        f"{catalog}.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        f"{catalog}.warehouse": warehouse,
        # Else each commit is a version that Glue keeps, up to a limit of the account.
        f"{catalog}.glue.skip-archive": "true",
    }
    if tiering:
        settings[f"{catalog}.s3.write.storage-class"] = "INTELLIGENT_TIERING"
    return " --conf ".join(f"{key}={value}" for key, value in settings.items())


@dataclass(frozen=True)
class JobPackages:
    """What a job imports: our own code, and what Glue's image lacks."""

    root: Path
    library: assets.Asset
    wheels: Wheels


@dataclass(frozen=True)
class JobSettings:
    """The workers of a run, if it is not started with others; how many runs; the arguments."""

    workers: Workers
    runs_at_once: int
    arguments: dict[str, str]


class SparkJob(Construct):
    """`glue_jobs/<job>.py`, deployed; retries are the state machine's."""

    def __init__(
        self,
        scope: Construct,
        job: str,
        *,
        environment: Environment,
        packages: JobPackages,
        settings: JobSettings,
        logs: JobLogs,
    ) -> None:
        super().__init__(scope, job)
        workers = settings.workers
        self.role = service_role(self, "role", "glue")
        script = assets.Asset(self, "script", path=str(packages.root / "glue_jobs" / f"{job}.py"))
        packages.wheels.grant_read(self.role)
        self._allow_packages(script, packages.library)
        logs.watch(job, self.role)
        allow_connections(self.role, environment)
        self.job = glue.PySparkEtlJob(
            self,
            "job",
            job_name=environment.name(job),
            # `Code` would grant more, such as to list the bucket of all packages in the account.
            role=self.role.without_policy_updates(),
            script=glue.Code.from_bucket(script.bucket, script.s3_object_key),
            glue_version=glue.GlueVersion.V5_1,
            worker_configuration=glue.WorkerConfiguration(
                worker_type=glue.WorkerType[workers.type.replace(".", "_")],
                number_of_workers=workers.number,
            ),
            max_retries=0,
            max_concurrent_runs=settings.runs_at_once,
            timeout=Duration.seconds(environment.timeouts.job),
            extra_python_files=[
                glue.Code.from_bucket(packages.library.bucket, packages.library.s3_object_key)
            ],
            security_configuration=logs.security,
            spark_ui=logs.spark_ui(job),
            connections=self._connections(environment) or None,
            enable_metrics=True,
            enable_observability_metrics=True,
            default_arguments={
                "--datalake-formats": "iceberg",
                # Then the number of workers is the most that a run has at a time.
                "--enable-auto-scaling": "true",
                "--enable-job-insights": "true",
                **packages.wheels.arguments,
                **settings.arguments,
            },
        )
        resource = cast(glue.CfnJob, self.job.node.default_child)
        resource.execution_class = workers.execution_class

    def _connections(self, environment: Environment) -> list[glue.IConnection]:
        return [
            glue.Connection.from_connection_name(self, name, name)
            for name in connection_names(environment)
        ]

    def _allow_packages(self, *packages: assets.Asset) -> None:
        keys = [each.bucket.arn_for_objects(each.s3_object_key) for each in packages]
        self.role.add_to_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=keys))
