"""One Glue job on Spark, with the Iceberg catalog `lake`."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from cdk.constructs.wheels import Wheels
from lakekit.config.environment import Environment
from lakekit.config.workers import Workers
from lakekit.spark_conf import CATALOG, SETTINGS


def spark_conf(warehouse: str) -> str:
    """Return the value of `--conf`: Glue takes the key once, so the rest rides in its value."""
    catalog = f"spark.sql.catalog.{CATALOG}"
    settings = {
        **SETTINGS,
        f"{catalog}.catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
        f"{catalog}.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        f"{catalog}.warehouse": warehouse,
        # Else each commit is a version that Glue keeps, up to a limit of the account.
        f"{catalog}.glue.skip-archive": "true",
    }
    return " --conf ".join(f"{key}={value}" for key, value in settings.items())


@dataclass(frozen=True)
class JobPackages:
    """What a job imports: our own code, and what Glue's image lacks."""

    root: Path
    library: assets.Asset
    wheels: Wheels


@dataclass(frozen=True)
class JobCapacity:
    """The workers of a run, if it is not started with others, and how many runs there are."""

    workers: Workers
    runs_at_once: int


class SparkJob(Construct):
    """`glue_jobs/<job>.py`, deployed; retries are the state machine's."""

    def __init__(
        self,
        scope: Construct,
        job: str,
        *,
        environment: Environment,
        packages: JobPackages,
        capacity: JobCapacity,
        arguments: dict[str, str],
    ) -> None:
        super().__init__(scope, job)
        workers = capacity.workers
        self.role = iam.Role(self, "role", assumed_by=iam.ServicePrincipal("glue.amazonaws.com"))
        script = assets.Asset(self, "script", path=str(packages.root / "glue_jobs" / f"{job}.py"))
        packages.wheels.grant_read(self.role)
        self._allow_packages(script, packages.library)
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
            max_concurrent_runs=capacity.runs_at_once,
            timeout=Duration.seconds(environment.timeouts.job),
            extra_python_files=[
                glue.Code.from_bucket(packages.library.bucket, packages.library.s3_object_key)
            ],
            default_arguments={
                "--datalake-formats": "iceberg",
                # Then the number of workers is the most that a run has at a time.
                "--enable-auto-scaling": "true",
                **packages.wheels.arguments,
                **arguments,
            },
        )
        resource = cast(glue.CfnJob, self.job.node.default_child)
        resource.execution_class = workers.execution_class
        self._allow_telemetry(scope)

    def _allow_packages(self, *packages: assets.Asset) -> None:
        keys = [each.bucket.arn_for_objects(each.s3_object_key) for each in packages]
        self.role.add_to_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=keys))

    def _allow_telemetry(self, scope: Construct) -> None:
        self.role.add_to_policy(
            iam.PolicyStatement(
                actions=["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
                resources=[f"arn:aws:logs:{self.job.env.region}:{self.job.env.account}:"
                           "log-group:/aws-glue/*"],
            )
        )  # fmt: skip
        self.role.add_to_policy(
            iam.PolicyStatement(
                actions=["cloudwatch:PutMetricData"],
                resources=["*"],
                conditions={"StringEquals": {"cloudwatch:namespace": "Glue"}},
            )
        )
