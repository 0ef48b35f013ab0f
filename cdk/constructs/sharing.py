"""What follows a load: ShareTable, called for each event `TableLoaded`, and its rights."""

from collections.abc import Iterable

from aws_cdk import Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from cdk.constructs.catalog import allow_catalog_key
from cdk.constructs.inbox import queue
from cdk.constructs.keys import use_through
from cdk.constructs.lake_formation import TAGGING, Grants, Principal
from cdk.constructs.query import RESULTS
from cdk.constructs.step_lambda import StepLambda, Work
from cdk.stacks.storage import StorageStack
from lakekit import layout
from lakekit.config.environment import Environment

LOADED = "loaded"
# A view takes a minute at most; a batch has few tables.
WORK = Work(seconds=300, at_once=5)
BATCH = 3


def loaded(environment: Environment, *tables: str) -> events.EventPattern:
    """Return the events of CompleteRun, of all tables or of some."""
    detail = {"database": [environment.database], **({"table": list(tables)} if tables else {})}
    return events.EventPattern(source=["lakekit"], detail_type=["TableLoaded"], detail=detail)


def sharing_variables(environment: Environment) -> dict[str, str]:
    """Return what ShareTable is deployed with in addition to the common variables."""
    found = {"LAKEKIT_ACCESS_TAG": environment.access_tag or ""}
    if environment.queries.views:
        found["LAKEKIT_VIEW_WORKGROUP"] = environment.name("queries")
    return {name: value for name, value in found.items() if value}


class Sharing(Construct):
    """Brings each event to the function through a queue, and gives the function its rights."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        storage: StorageStack,
        function: StepLambda,
        dead_letters: sqs.IQueue,
    ) -> None:
        super().__init__(scope, id)
        self._environment, self._storage, self._function = environment, storage, function
        waiting = queue(
            self,
            environment,
            LOADED,
            days=4,
            dead=sqs.DeadLetterQueue(queue=dead_letters, max_receive_count=5),
            seconds=WORK.seconds,
        )
        events.Rule(
            self,
            "rule",
            rule_name=environment.name("loaded"),
            event_pattern=loaded(environment),
            targets=[targets.SqsQueue(waiting, dead_letter_queue=dead_letters)],
        )
        mapping = lambda_.EventSourceMapping(
            self,
            "mapping",
            target=function.function,
            event_source_arn=waiting.queue_arn,
            batch_size=BATCH,
            report_batch_item_failures=True,
        )
        mapping.node.add_dependency(function.role)
        self._allow(
            ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
            waiting.queue_arn,
        )
        for statement in storage.catalog_statements("GetTable"):
            function.allow(statement)
        allow_catalog_key(function.role, environment)
        if environment.queries.views:
            self._allow_views()
        if environment.lake_formation:
            self._allow_tags()

    def _allow_views(self) -> None:
        """Athena reads metadata of tables with the rights of its caller, and writes its result."""
        stack, environment = Stack.of(self), self._environment
        storage = self._storage
        group = stack.format_arn(
            service="athena", resource="workgroup", resource_name=environment.name("queries")
        )
        self._allow(["athena:StartQueryExecution", "athena:GetQueryExecution"], group)
        parts = ("catalog", f"database/{environment.database}",
                 f"table/{environment.database}/{layout.current_view('*')}")  # fmt: skip
        self._allow(
            ["glue:CreateTable", "glue:UpdateTable"],
            *(stack.format_arn(service="glue", resource=part) for part in parts),
        )
        metadata = f"warehouse/{environment.database}.db/*/metadata/*"
        self._allow(["s3:GetObject"], storage.lake.arn_for_objects(metadata))
        self._allow(
            ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"],
            storage.results.arn_for_objects(f"{RESULTS}*"),
        )
        self._allow(
            ["s3:ListBucket", "s3:GetBucketLocation"],
            storage.lake.bucket_arn,
            storage.results.bucket_arn,
        )
        key = storage.key.key_arn
        self._function.allow(use_through("s3", stack.region, key, "Decrypt", "GenerateDataKey"))

    def _allow_tags(self) -> None:
        """Let the function assign tags. IAM lets it grant nothing.

        Where there are views, Athena reads the metadata of tables through Lake Formation.
        """
        reads = ["lakeformation:GetDataAccess"] if self._environment.queries.views else []
        self._allow(
            ["lakeformation:AddLFTagsToResource", "lakeformation:GetResourceLFTags", *reads], "*"
        )
        grants = Grants(self, self._environment)
        who = Principal("share_table", self._function.role.role_arn)
        made = [
            grants.describe(who, "CREATE_TABLE"),
            grants.tables(who, TAGGING, grant=True),
            grants.assign(who),
        ]
        for each in made:
            each.node.add_dependency(self._function.role)

    def _allow(self, actions: Iterable[str], *resources: str) -> None:
        self._function.allow(iam.PolicyStatement(actions=list(actions), resources=list(resources)))
