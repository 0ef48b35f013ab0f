"""Projects of DataBrew, in which a person looks at the records of a contract as they were landed.

DataBrew does not name Iceberg among what it reads, and records are lines of JSON.
"""

from aws_cdk import Stack
from aws_cdk import aws_databrew as databrew
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk.constructs.keys import use_through
from cdk.constructs.roles import service_role
from lakekit import layout
from lakekit.config.environment import Environment
from lakekit.config.infrastructure.governance import Preparation

# The newest objects, and how many of their records a person sees.
NEWEST, RECORDS = 10, 500


class Preparations(Construct):
    """For each contract a dataset, a recipe to be written, a project, and one role for all."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        landing: s3.IBucket,
        key: kms.IKey,
    ) -> None:
        super().__init__(scope, id)
        self._environment, self._landing = environment, landing
        self._role = self._allow_reading(key)
        for each in environment.preparations:
            self._add(each)

    def _allow_reading(self, key: kms.IKey) -> iam.Role:
        role = service_role(self, "role", "databrew")
        folders = [_folder(each) for each in self._environment.preparations]
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["s3:GetObject"],
                resources=[self._landing.arn_for_objects(f"{folder}*") for folder in folders],
            )
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["s3:ListBucket", "s3:GetBucketLocation"],
                resources=[self._landing.bucket_arn],
            )
        )
        role.add_to_policy(use_through("s3", Stack.of(self).region, key.key_arn, "Decrypt"))
        return role

    def _add(self, each: Preparation) -> None:
        # In a scope of its own: a contract may be called `role`.
        scope = Construct(self, f"of_{each.source}_{each.contract}")
        name = self._environment.name(f"{each.source}-{each.contract}")
        dataset = databrew.CfnDataset(
            scope,
            "dataset",
            name=name,
            format="JSON",
            format_options={"json": {"multiLine": False}},
            input={
                "s3InputDefinition": {
                    "bucket": self._landing.bucket_name,
                    # Not the manifest, which lies with the parts.
                    "key": f"{_folder(each)}<[^/]+>/part-<[0-9]+>.ndjson.gz",
                }
            },
            path_options={
                "filesLimit": {
                    "maxFiles": NEWEST, "orderedBy": "LAST_MODIFIED_DATE", "order": "DESCENDING"
                }
            },
        )  # fmt: skip
        recipe = databrew.CfnRecipe(
            scope, "recipe", name=name, description="Steps that a person adds", steps=[]
        )
        project = databrew.CfnProject(
            scope,
            "project",
            name=name,
            dataset_name=name,
            recipe_name=name,
            role_arn=self._role.role_arn,
            sample={"type": "FIRST_N", "size": RECORDS},
        )
        project.node.add_dependency(dataset, recipe)


def _folder(each: Preparation) -> str:
    return layout.endpoint_prefix(each.source, each.contract)
