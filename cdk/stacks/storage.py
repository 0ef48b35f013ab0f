"""Where data lives: keys, buckets, the catalog's database, the workgroup that queries it."""

from collections.abc import Iterable, Iterator
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk.constructs.audit import AuditTrail
from cdk.constructs.bucket import PrivateBucket, removal_policy
from cdk.constructs.keys import EnvironmentKey, allow_logs, allow_publishers
from cdk.constructs.lake_formation import ReadersOfLake
from cdk.constructs.query import RESULT_DAYS, RESULTS, Workgroup
from cdk.constructs.replication import Copies
from lakekit import layout
from lakekit.config.environment import Environment

# A dropped file has become a landing long before; the sweeper must know it for longer than it lies.
INBOX_DAYS, ROUTED_DAYS = 30, 60
# In the bucket of results: what Spark's history server shows of jobs.
SPARK_EVENTS = "spark-events/"
# Of requests to all objects of a bucket.
REQUESTS = "all"


class StorageStack(Stack):
    def __init__(
        self, scope: Construct, id: str, *, environment: Environment, **props: Any
    ) -> None:
        super().__init__(scope, id, **props)
        self.environment_file = environment
        self.key = EnvironmentKey(self, "data", environment=environment)
        self.log_key = EnvironmentKey(self, "logs", environment=environment)
        allow_logs(self.log_key)
        allow_publishers(self.log_key)
        self.access_logs = PrivateBucket(self, "access", environment=environment)
        self.access_logs.expire("", environment.log_days)
        self.landing = self._bucket("landing")
        self._age_landing()
        self.lake = self._bucket("lake")
        # Change sets of merges that were killed; one that ends removes its own.
        self.lake.expire(f"warehouse/{layout.STAGING}", layout.STAGING_DAYS)
        self.results = self._bucket("results")
        self.results.expire(RESULTS, RESULT_DAYS)
        self.results.expire(SPARK_EVENTS, environment.log_days)
        self.database = environment.database
        self.warehouse = f"s3://{self.lake.bucket_name}/warehouse"
        database = self._catalog_database()
        self._watch_and_copy()
        Workgroup(self, "queries", environment=environment, results=self.results, key=self.key)
        if environment.lake_formation:
            ReadersOfLake(
                self,
                "lake_formation",
                environment=environment,
                lake=self.lake,
                key=self.key,
                database=database,
            )
        if environment.audit:
            AuditTrail(
                self,
                "audit",
                environment=environment,
                log_key=self.log_key,
                logged_to=self.access_logs,
                watched=(self.landing, self.lake),
            )

    def catalog_statements(self, *actions: str) -> Iterator[iam.PolicyStatement]:
        """Yield rights to the tables of the database; who creates some looks at it, too."""
        yield self._catalog([f"glue:{action}" for action in actions], "*")
        if "CreateTable" in actions:
            yield self._catalog(["glue:GetDatabase"])

    def drop_shadows_statement(self) -> iam.PolicyStatement:
        """Return the right to drop what a rebuild works in, and no other table."""
        return self._catalog(["glue:DeleteTable"], *layout.shadow_tables("*"))

    def _bucket(self, id: str) -> PrivateBucket:
        return PrivateBucket(
            self, id, environment=self.environment_file, key=self.key, logged_to=self.access_logs
        )

    def _age_landing(self) -> None:
        storage = self.environment_file.storage
        self.landing.send_events()
        self.landing.age(
            layout.RAW,
            infrequent=storage.raw_infrequent_days,
            archive=storage.raw_archive_days,
            end=storage.raw_days,
        )
        self.landing.expire("inbox/", INBOX_DAYS)
        self.landing.expire(layout.index_prefix("routed"), ROUTED_DAYS)

    def _watch_and_copy(self) -> None:
        storage = self.environment_file.storage
        tables = f"warehouse/{self.database}.db/"
        if storage.request_metrics:
            for bucket in (self.landing, self.lake):
                bucket.add_metric(id=REQUESTS)
        if storage.replication:
            Copies(
                self,
                "copies",
                replication=storage.replication,
                sources={"landing": (self.landing, ""), "lake": (self.lake, tables)},
                key=self.key,
            )

    def _catalog_database(self) -> glue.CfnDatabase:
        database = glue.CfnDatabase(
            self,
            "database",
            catalog_id=self.account,
            database_input=glue.CfnDatabase.DatabaseInputProperty(
                name=self.database,
                description=f"Tables of Lakekit, {self.environment_file.environment}",
                location_uri=f"{self.warehouse}/{self.database}.db",
            ),
        )
        database.apply_removal_policy(removal_policy(self.environment_file))
        return database

    def _catalog(self, actions: Iterable[str], *tables: str) -> iam.PolicyStatement:
        parts = [f"table/{self.database}/{table}" for table in tables]
        return iam.PolicyStatement(
            actions=list(actions),
            resources=[
                self.format_arn(service="glue", resource=part)
                for part in ("catalog", f"database/{self.database}", *parts)
            ],
        )
