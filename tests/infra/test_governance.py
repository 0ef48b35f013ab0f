"""Who may read, who has read, and what follows a load: by the template of prod."""

import json
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import Environment as Place
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from aws_cdk.assertions import Template

from cdk.constructs.refresh import DatasetRefreshes
from lakekit.config.environment import Environment
from tests.infra import limits
from tests.infra.conftest import Stacks

Json = dict[str, Any]
ROLE = "arn:aws:iam::333333333333:role/{}"
KEY = "arn:aws:kms:eu-west-1:333333333333:key/01234567-89ab-cdef-0123-456789abcdef"
KINDS = ("AWS::LakeFormation::", "AWS::CloudTrail::", "AWS::Config::", "AWS::DataBrew::")


@pytest.fixture(scope="module")
def prod(environments: dict[str, Stacks]) -> Stacks:
    return environments["prod"]


def properties(stacks: Stacks, stack: str, kind: str) -> list[Json]:
    return [each["Properties"] for each in stacks[stack].find_resources(kind).values()]


def grants(stacks: Stacks, stack: str) -> dict[str, list[tuple[str, Json, list[str]]]]:
    """Return the grants of each principal: kind of resource, resource, permissions."""
    found: dict[str, list[tuple[str, Json, list[str]]]] = {}
    for each in properties(stacks, stack, "AWS::LakeFormation::PrincipalPermissions"):
        who = json.dumps(each["Principal"]["DataLakePrincipalIdentifier"])
        [(kind, resource)] = each["Resource"].items()
        found.setdefault(who, []).append((kind, resource, each["Permissions"]))
    return found


def of(found: dict[str, Any], part: str) -> Any:
    [mine] = [each for who, each in found.items() if part in who]
    return mine


def actions(stacks: Stacks, stack: str, part: str) -> dict[str, set[str]]:
    """Return the resources of each action of the policies with a part in their names."""
    found: dict[str, set[str]] = {}
    for name, policy in stacks[stack].find_resources("AWS::IAM::Policy").items():
        for statement in (
            policy["Properties"]["PolicyDocument"]["Statement"] if part in name else ()
        ):
            for action in statement["Action"] if isinstance(statement["Action"], list) else [
                statement["Action"]
            ]:  # fmt: skip
                resources = statement["Resource"]
                many = resources if isinstance(resources, list) else [resources]
                found.setdefault(action, set()).update(json.dumps(each) for each in many)
    return found


# Lake Formation.


def test_a_database_is_closed_and_gives_new_tables_to_nobody(prod: Stacks) -> None:
    [database] = properties(prod, "storage", "AWS::Glue::Database")
    [tag] = properties(prod, "storage", "AWS::LakeFormation::Tag")
    [closed] = properties(prod, "storage", "AWS::LakeFormation::TagAssociation")

    assert database["DatabaseInput"]["CreateTableDefaultPermissions"] == []
    assert (tag["TagKey"], tag["TagValues"]) == ("lakekit-prod-access", ["open", "sensitive"])
    assert closed["Resource"]["Database"]["Name"] == "lakekit_prod"
    assert [each["TagValues"] for each in closed["LFTags"]] == [["sensitive"]]


def test_analysts_read_what_is_open_and_auditors_everything(prod: Stacks) -> None:
    found = grants(prod, "storage")

    def values(name: str) -> list[str]:
        mine = {kind: (resource, permissions) for kind, resource, permissions in of(found, name)}
        assert mine["Database"][1] == ["DESCRIBE"]
        policy, permissions = mine["LFTagPolicy"]
        assert (policy["ResourceType"], permissions) == ("TABLE", ["DESCRIBE", "SELECT"])
        given: list[str] = policy["Expression"][0]["TagValues"]
        return given

    assert values(ROLE.format("analyst")) == ["open"]
    assert values(ROLE.format("auditor")) == ["open", "sensitive"]
    assert len(found) == 2


def test_lake_formation_reads_for_others_and_writes_nothing(prod: Stacks) -> None:
    [place] = properties(prod, "storage", "AWS::LakeFormation::Resource")
    may = actions(prod, "storage", "lakeformationrole")

    [resource] = prod["storage"].find_resources("AWS::LakeFormation::Resource").values()
    assert "database" in resource["DependsOn"]
    assert json.dumps(place["ResourceArn"]).endswith('"/warehouse"]]}')
    assert place["HybridAccessEnabled"] is False
    assert may.keys() == {"s3:GetObject", "s3:ListBucket", "kms:Decrypt"}


def test_the_settings_of_the_account_are_left_alone(prod: Stacks) -> None:
    text = json.dumps([template.to_json() for template in prod.values()])

    assert "AWS::LakeFormation::DataLakeSettings" not in text
    assert "AWS::Glue::DataCatalogEncryptionSettings" not in text
    assert "lakeformation:GrantPermissions" not in text
    assert "lakeformation:PutDataLakeSettings" not in text


def test_jobs_keep_tables_and_functions_see_them_where_iam_does_not_decide(prod: Stacks) -> None:
    found = grants(prod, "compute")

    for job, drops in (("createtables", False), ("mergescd2", False), ("rebuildtable", True)):
        mine = {kind: permissions for kind, _, permissions in of(found, job)}
        assert mine == {
            "Database": ["CREATE_TABLE", "DESCRIBE"],
            "Table": ["ALTER", "DESCRIBE", *(["DROP"] if drops else [])],
            "DataLocation": ["DATA_LOCATION_ACCESS"],
        }
    for step in ("plantables", "completerun", "sweep"):
        assert {kind: each for kind, _, each in of(found, step)} == {
            "Database": ["DESCRIBE"], "Table": ["DESCRIBE"]
        }  # fmt: skip
    assert len(found) == 7


def test_grants_have_names_that_stay_when_others_come_or_go(prod: Stacks) -> None:
    names = prod["storage"].find_resources("AWS::LakeFormation::PrincipalPermissions")

    for name, each in names.items():
        assert "lakeformation" in name
        assert not name.rstrip("0123456789ABCDEF").endswith(("grant", "_"))
        assert each["DependsOn"]


def test_share_table_assigns_tags_and_can_grant_nothing(prod: Stacks) -> None:
    mine = {kind: each for kind, _, each in of(grants(prod, "orchestration"), "sharetable")}
    may = actions(prod, "orchestration", "sharetable")

    assert mine["LFTag"] == ["ASSOCIATE", "DESCRIBE"]
    assert set(mine["Table"]) == {"ALTER", "DELETE", "DESCRIBE", "DROP", "INSERT", "SELECT"}
    assert {each for each in may if each.startswith("lakeformation:")} == {
        "lakeformation:AddLFTagsToResource", "lakeformation:GetDataAccess",
        "lakeformation:GetResourceLFTags",
    }  # fmt: skip
    views = {each for each in may["glue:CreateTable"] if "table/" in each}
    assert [each.rpartition("table/")[2].rstrip('"]}') for each in views] == [
        "lakekit_prod/*_current"
    ]
    [results] = may["s3:PutObject"]
    assert "athena/*" in results


def test_each_load_of_a_table_calls_share_table_through_a_queue(prod: Stacks) -> None:
    [rule] = [each for each in properties(prod, "orchestration", "AWS::Events::Rule")
              if each.get("Name") == "lakekit-prod-loaded"]  # fmt: skip
    [function] = properties(prod, "orchestration", "AWS::Lambda::Function")
    variables = function["Environment"]["Variables"]

    assert rule["EventPattern"] == {
        "source": ["lakekit"], "detail-type": ["TableLoaded"],
        "detail": {"database": ["lakekit_prod"]},
    }  # fmt: skip
    assert "DeadLetterConfig" in rule["Targets"][0]
    assert variables["LAKEKIT_ACCESS_TAG"] == "lakekit-prod-access"
    assert variables["LAKEKIT_VIEW_WORKGROUP"] == "lakekit-prod-queries"
    assert "VpcConfig" in function


# The catalog's key.


def test_who_uses_the_catalog_may_use_its_key_through_glue_alone(prod: Stacks) -> None:
    users = set()
    for stack in ("compute", "orchestration"):
        for name, policy in prod[stack].find_resources("AWS::IAM::Policy").items():
            for each in policy["Properties"]["PolicyDocument"]["Statement"]:
                if each.get("Resource") == KEY:
                    assert each["Condition"]["StringEquals"] == {
                        "kms:ViaService": "glue.eu-west-1.amazonaws.com"
                    }
                    users.add(name.partition("role")[0])

    assert users == {
        "completerun", "createtables", "maintaintables", "mergescd2", "plantables", "rebuildtable",
        "sharetable", "sweep",
    }  # fmt: skip


# Audit.


def test_reads_and_writes_of_data_are_recorded_and_the_record_can_be_validated(
    prod: Stacks,
) -> None:
    [trail] = properties(prod, "storage", "AWS::CloudTrail::Trail")
    [selector] = trail["AdvancedEventSelectors"]
    fields = {each["Field"]: each for each in selector["FieldSelectors"]}

    assert trail["EnableLogFileValidation"] is True
    assert {"KMSKeyId", "CloudWatchLogsLogGroupArn"} <= trail.keys()
    assert fields["eventCategory"]["Equals"] == ["Data"]
    watched = json.dumps(fields["resources.ARN"]["StartsWith"])
    assert "landing" in watched and "lake" in watched and watched.count("GetAtt") == 2


def test_the_trail_has_a_bucket_and_a_key_which_services_use_for_this_account_alone(
    prod: Stacks,
) -> None:
    [bucket] = [each for each in properties(prod, "storage", "AWS::S3::Bucket")
                if "-trail-" in each["BucketName"]]  # fmt: skip
    [policy] = [each["PolicyDocument"]["Statement"]
                for each in properties(prod, "storage", "AWS::S3::BucketPolicy")
                if "trail" in json.dumps(each["Bucket"])]  # fmt: skip
    [expiry] = [rule for rule in bucket["LifecycleConfiguration"]["Rules"]
                if rule["Id"].startswith("expire")]  # fmt: skip
    allowed = [each for each in policy if each["Effect"] == "Allow"]

    assert "KMSMasterKeyID" in json.dumps(bucket["BucketEncryption"])
    assert expiry["ExpirationInDays"] == 730
    assert {each["Sid"] for each in allowed} == {
        "CloudtrailAsks", "CloudtrailWrites", "ConfigAsks", "ConfigWrites"
    }  # fmt: skip
    for each in allowed:
        assert each["Condition"]["StringEquals"]["aws:SourceAccount"] == "333333333333"


def test_config_records_buckets_and_keys_and_has_rules_for_those_of_the_environment(
    prod: Stacks,
) -> None:
    [recorder] = properties(prod, "storage", "AWS::Config::ConfigurationRecorder")
    rules = properties(prod, "storage", "AWS::Config::ConfigRule")

    assert recorder["RecordingGroup"]["ResourceTypes"] == ["AWS::KMS::Key", "AWS::S3::Bucket"]
    assert len(rules) == 4
    for rule in rules:
        assert rule["Scope"] == {"TagKey": "environment", "TagValue": "prod"}


# What analysts' tools get.


def test_quicksight_reads_a_dataset_again_after_each_load_of_its_table(prod: Stacks) -> None:
    [rule] = [each for each in properties(prod, "orchestration", "AWS::Events::Rule")
              if "QuickSight" in each.get("Description", "")]  # fmt: skip
    [machine] = properties(prod, "orchestration", "AWS::StepFunctions::StateMachine")
    definition = json.dumps(machine["DefinitionString"])
    may = actions(prod, "orchestration", "refreshesrole")

    assert rule["EventPattern"]["detail"]["table"] == ["customers"]
    [target] = rule["Targets"]
    assert json.loads(target["Input"]) == {"dataset": "7f1f6b3c-customers"}
    assert "DeadLetterConfig" in target
    assert "aws-sdk:quicksight:createIngestion" in definition
    [ingestions] = may["quicksight:CreateIngestion"]
    assert ":dataset/7f1f6b3c-customers/ingestion/*" in ingestions


def test_twenty_datasets_stay_within_the_limits_of_a_policy() -> None:
    refreshes = [{"table": f"t{n}", "dataset": f"{n}".zfill(36)} for n in range(20)]
    environment = Environment.model_validate(
        {"environment": "dev", "account": "1" * 12, "region": "eu-west-1", "refreshes": refreshes}
    )
    app = App(analytics_reporting=False)
    stack = Stack(app, "stack", env=Place(account="1" * 12, region="eu-west-1"))
    dead, key = sqs.Queue(stack, "queue", queue_name="dead"), kms.Key(stack, "key")

    DatasetRefreshes(stack, "r", environment=environment, log_key=key, dead_letters=dead)

    template = Template.from_stack(stack)
    template.resource_count_is("AWS::Events::Rule", 20)
    assert limits.excesses([template]) == []


def test_databrew_sees_the_landed_records_of_one_contract(dev: Stacks) -> None:
    [dataset] = properties(dev, "orchestration", "AWS::DataBrew::Dataset")
    [project] = properties(dev, "orchestration", "AWS::DataBrew::Project")
    [recipe] = properties(dev, "orchestration", "AWS::DataBrew::Recipe")
    may = actions(dev, "orchestration", "preparations")

    key = "raw/shop_api/customers/<[^/]+>/part-<[0-9]+>.ndjson.gz"
    assert dataset["Input"]["S3InputDefinition"]["Key"] == key
    assert (project["DatasetName"], project["RecipeName"]) == (dataset["Name"], recipe["Name"])
    assert recipe["Steps"] == []
    assert may.keys() == {"s3:GetObject", "s3:ListBucket", "s3:GetBucketLocation", "kms:Decrypt"}
    [objects] = may["s3:GetObject"]
    assert '/raw/shop_api/customers/*"' in objects


def test_without_switches_there_is_nothing_of_it(environments: dict[str, Stacks]) -> None:
    staging = environments["staging"]
    found = [each["Type"] for template in staging.values()
             for each in template.to_json()["Resources"].values()]  # fmt: skip

    assert [kind for kind in found if kind.startswith(KINDS)] == []
    text = json.dumps([template.to_json() for template in staging.values()])
    for part in ("loaded_dead", "share_table", "lakeformation:", "CreateTableDefaultPermissions"):
        assert part not in text
