"""Where data lives: the key, the landing and lake buckets, the catalog's database."""

from collections.abc import Iterable
from typing import Any

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from cdk.constructs.bucket import DataBucket, removal_policy
from cdk.constructs.failures import allow_alarms
from lakekit import layout
from lakekit.config.environment import Environment

READ_CATALOG = ("glue:GetDatabase", "glue:GetTable", "glue:GetTables")
WRITE_CATALOG = (*READ_CATALOG, "glue:CreateTable", "glue:UpdateTable")


class StorageStack(Stack):
    def __init__(
        self, scope: Construct, id: str, *, environment: Environment, **props: Any
    ) -> None:
        super().__init__(scope, id, **props)
        self.environment_file = environment
        self.key = kms.Key(
            self,
            "key",
            alias=f"alias/{environment.name('data')}",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        allow_alarms(self.key)
        self.landing = DataBucket(self, "landing", environment=environment, key=self.key)
        self.landing.send_events()
        if environment.storage.raw_days:
            self.landing.expire("raw/", environment.storage.raw_days)
        self.lake = DataBucket(self, "lake", environment=environment, key=self.key)
        # Change sets of merges that were killed; one that ends removes its own.
        self.lake.expire(f"warehouse/{layout.STAGING}", layout.STAGING_DAYS)
        self.database = environment.database
        self.warehouse = f"s3://{self.lake.bucket_name}/warehouse"
        database = glue.CfnDatabase(
            self,
            "database",
            catalog_id=self.account,
            database_input=glue.CfnDatabase.DatabaseInputProperty(
                name=self.database,
                description=f"Tables of Lakekit, {environment.environment}",
                location_uri=f"{self.warehouse}/{self.database}.db",
            ),
        )
        database.apply_removal_policy(removal_policy(environment))

    def catalog_statement(self, *, write: bool = False) -> iam.PolicyStatement:
        """Return the right to the catalog's database and its tables, and to nothing else."""
        return self._catalog(WRITE_CATALOG if write else READ_CATALOG, "*")

    def drop_shadows_statement(self) -> iam.PolicyStatement:
        """Return the right to drop what a rebuild works in, and no other table."""
        return self._catalog(["glue:DeleteTable"], *layout.shadow_tables("*"))

    def _catalog(self, actions: Iterable[str], *tables: str) -> iam.PolicyStatement:
        parts = [f"table/{self.database}/{table}" for table in tables]
        return iam.PolicyStatement(
            actions=list(actions),
            resources=[
                f"arn:aws:glue:{self.region}:{self.account}:{part}"
                for part in ("catalog", f"database/{self.database}", *parts)
            ],
        )
