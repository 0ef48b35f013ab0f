"""Lake Formation: who may read which columns of the lake (ADR 27).

A column is `sensitive` as long as nothing says that it is `open`: the database is, and its tables
inherit it. ShareTable opens columns by their contracts. Nothing here changes the settings of the
account, such as who is an administrator.
"""

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lakeformation as lakeformation
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk.constructs.keys import use_through
from cdk.constructs.roles import service_role
from lakekit.config.environment import Environment
from lakekit.config.functions import Step
from lakekit.contract.readers import OPEN, SENSITIVE

Grant = lakeformation.CfnPrincipalPermissions
WAREHOUSE = "warehouse"
READ = ("DESCRIBE", "SELECT")
# To assign tags one must be able to pass these on; no role here may call what passes them on.
# https://docs.aws.amazon.com/lake-formation/latest/dg/TBAC-assigning-tags.html
TAGGING = ("ALTER", "DELETE", "DESCRIBE", "DROP", "INSERT", "SELECT")


class ReadersOfLake(Construct):
    """The location of the tables, the tag that closes the database, and what readers may see."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        lake: s3.IBucket,
        key: kms.IKey,
        database: glue.CfnDatabase,
    ) -> None:
        super().__init__(scope, id)
        self._grants = Grants(self, environment)
        location = self._register(lake, key)
        # In a registered location a database needs a grant of its own for whoever makes it.
        location.node.add_dependency(database)
        # Else new tables would be open to whoever IAM lets call Glue.
        database.add_property_override("DatabaseInput.CreateTableDefaultPermissions", [])
        tag = lakeformation.CfnTag(
            self, "tag", tag_key=self._grants.tag, tag_values=[OPEN, SENSITIVE]
        )
        closed = lakeformation.CfnTagAssociation(
            self,
            "closed",
            resource={"database": self._grants.database},
            lf_tags=[self._grants.tagged(SENSITIVE)],
        )
        closed.node.add_dependency(tag, database)
        readers = environment.lake_formation
        for arns, values in (
            (readers.analysts, (OPEN,)), (readers.auditors, (OPEN, SENSITIVE))
        ) if readers else ():  # fmt: skip
            for arn in arns:
                who = Principal(hashlib.sha256(arn.encode()).hexdigest()[:12], arn)
                for each in (self._grants.describe(who), self._grants.by_tag(who, values)):
                    each.node.add_dependency(closed)

    def _register(self, lake: s3.IBucket, key: kms.IKey) -> Construct:
        """Let Lake Formation read objects for those whom it lets read: nobody writes through it."""
        role = service_role(self, "role", "lakeformation")
        stack = Stack.of(self)
        objects = lake.arn_for_objects(f"{WAREHOUSE}/*")
        for statement in (
            iam.PolicyStatement(actions=["s3:GetObject"], resources=[objects]),
            iam.PolicyStatement(actions=["s3:ListBucket"], resources=[lake.bucket_arn]),
            use_through("s3", stack.region, key.key_arn, "Decrypt"),
        ):
            role.add_to_policy(statement)
        location = lakeformation.CfnResource(
            self,
            "location",
            resource_arn=location_arn(stack, lake.bucket_name),
            role_arn=role.role_arn,
            use_service_linked_role=False,
            hybrid_access_enabled=False,
        )
        location.node.add_dependency(role)
        return location


class Principal(NamedTuple):
    """Whom a grant is for; `id` is in the names of his grants and never of another's.

    A grant whose name moved on to another principal would be revoked after it was made.
    """

    id: str
    arn: str


class Grants:
    """Makes grants on one database, each a resource in a scope."""

    def __init__(self, scope: Construct, environment: Environment) -> None:
        assert environment.access_tag  # noqa: S101
        self._scope, self._account = scope, environment.account
        self.tag = environment.access_tag
        self.database = {"catalogId": self._account, "name": environment.database}
        self._tables = {
            "catalogId": self._account,
            "databaseName": environment.database,
            "tableWildcard": {},
        }

    def tagged(self, *values: str) -> dict[str, Any]:
        """Return the tag with some of its values."""
        return {"catalogId": self._account, "tagKey": self.tag, "tagValues": list(values)}

    def describe(self, who: Principal, *more: str) -> Grant:
        """Let a principal see the database, and do some more with it."""
        return self._add(who, {"database": self.database}, ("DESCRIBE", *more))

    def tables(self, who: Principal, permissions: Iterable[str], *, grant: bool = False) -> Grant:
        """Let a principal do something with all tables, and perhaps grant it to others."""
        return self._add(who, {"table": self._tables}, permissions, grant=grant)

    def by_tag(self, who: Principal, values: Iterable[str]) -> Grant:
        """Let a principal read the columns with one of the tag's values."""
        policy = {
            "catalogId": self._account,
            "resourceType": "TABLE",
            "expression": [{"tagKey": self.tag, "tagValues": list(values)}],
        }
        return self._add(who, {"lfTagPolicy": policy}, READ)

    def location(self, who: Principal, arn: str) -> Grant:
        """Let a principal make tables in a location."""
        place = {"catalogId": self._account, "resourceArn": arn}
        return self._add(who, {"dataLocation": place}, ("DATA_LOCATION_ACCESS",))

    def assign(self, who: Principal) -> Grant:
        """Let a principal assign the tag."""
        tag = self.tagged(OPEN, SENSITIVE)
        return self._add(who, {"lfTag": tag}, ("ASSOCIATE", "DESCRIBE"))

    def _add(
        self,
        who: Principal,
        resource: dict[str, Any],
        permissions: Iterable[str],
        *,
        grant: bool = False,
    ) -> Grant:
        [kind], wanted = resource, sorted(permissions)
        return Grant(
            self._scope,
            f"{kind}_{who.id}",
            catalog=self._account,
            principal={"dataLakePrincipalIdentifier": who.arn},
            resource=resource,
            permissions=wanted,
            permissions_with_grant_option=wanted if grant else [],
        )


def allow_loaders(
    grants: Grants, *, location: str, writers: dict[str, iam.Role], readers: dict[Step, iam.Role]
) -> None:
    """Let jobs keep tables, and functions see them, where IAM alone does not decide.

    Objects they read and write with rights of their own.

    Args:
        grants: Of the database.
        location: Where the tables are.
        writers: The roles of jobs.
        readers: The roles of functions.
    """
    for job, role in writers.items():
        who = Principal(job, role.role_arn)
        grants.describe(who, "CREATE_TABLE")
        drops = ("DROP",) if job == "rebuild_table" else ()
        grants.tables(who, ("DESCRIBE", "ALTER", *drops))
        grants.location(who, location)
    for step, role in readers.items():
        who = Principal(step, role.role_arn)
        grants.describe(who)
        grants.tables(who, ("DESCRIBE",))


def location_arn(stack: Stack, bucket: str) -> str:
    """Return the location of the tables of a lake."""
    return stack.format_arn(
        service="s3", region="", account="", resource=bucket, resource_name=WAREHOUSE,
        arn_format=ArnFormat.SLASH_RESOURCE_NAME,
    )  # fmt: skip
