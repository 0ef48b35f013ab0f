"""Buckets, keys and the workgroup: who is kept out, what gets cheaper, what goes when."""

import json
from typing import Any

import pytest
from aws_cdk import App
from aws_cdk import Environment as Place
from aws_cdk.assertions import Template

from cdk.stacks.storage import StorageStack
from lakekit.config.environment import Environment
from tests.infra.conftest import ROOT, Stacks
from tests.infra.test_access import as_list

Json = dict[str, Any]
DATA = ("landing", "lake", "results")
KEY = "arn:aws:kms:eu-west-2:{}:key/01234567-89ab-cdef-0123-456789abcdef"
REFUSALS = ["RefusePlainHttp", "RefuseOldTls", "RefuseOtherEncryption", "RefuseOtherKeys"]


def buckets(stacks: Stacks) -> dict[str, Json]:
    """Return the properties of each bucket by its part of the name."""
    found = stacks["storage"].find_resources("AWS::S3::Bucket").values()
    names = {each["Properties"]["BucketName"].split("-")[2]: each["Properties"] for each in found}
    assert {*DATA, "access"} <= names.keys() <= {*DATA, "access", "trail"}
    return names


def rules(bucket: Json) -> dict[str, Json]:
    return {each["Id"]: each for each in bucket["LifecycleConfiguration"]["Rules"]}


def test_buckets_are_private_encrypted_and_versioned(stacks: Stacks) -> None:
    for name, bucket in buckets(stacks).items():
        [rule] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        # S3 delivers access logs to a bucket with a key of its own alone.
        wanted = "AES256" if name == "access" else "aws:kms"
        assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == wanted
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}


def test_who_reads_and_writes_data_is_logged(stacks: Stacks) -> None:
    found = buckets(stacks)

    assert "LoggingConfiguration" not in found["access"]
    for name in found.keys() - {"access"}:
        assert found[name]["LoggingConfiguration"]["LogFilePrefix"] == f"{name}/"


def test_policies_of_buckets_say_what_they_refuse(stacks: Stacks) -> None:
    policies = stacks["storage"].find_resources("AWS::S3::BucketPolicy").values()
    refused = [
        [each["Sid"] for each in policy["Properties"]["PolicyDocument"]["Statement"]
         if each["Effect"] == "Deny"]
        for policy in policies
    ]  # fmt: skip

    others = len(buckets(stacks)) - 1
    assert sorted(refused) == sorted([REFUSALS] * others + [REFUSALS[:2]])


def test_landings_move_to_cheaper_classes_by_their_age(stacks: Stacks) -> None:
    rule = rules(buckets(stacks)["landing"])["age-raw"]

    assert rule["Prefix"] == "raw/"
    assert rule["Transitions"] == [
        {"StorageClass": "STANDARD_IA", "TransitionInDays": 30},
        {"StorageClass": "GLACIER_IR", "TransitionInDays": 90},
    ]
    assert "ExpirationInDays" not in rule


def test_no_rule_moves_or_expires_what_a_table_or_a_rebuild_needs(stacks: Stacks) -> None:
    for name, bucket in buckets(stacks).items():
        for rule in rules(bucket).values():
            takes = rule.keys() & {"ExpirationInDays", "Transitions"}
            prefix = rule.get("Prefix", "")
            if takes and name == "landing":
                assert prefix in ("raw/", "inbox/", "index/routed/")
            if takes and name == "lake":
                assert prefix == "warehouse/.staging/"


def test_staged_change_sets_and_old_results_expire(dev: Stacks) -> None:
    days = {
        rule["Prefix"]: rule["ExpirationInDays"]
        for name in ("lake", "results", "access")
        for rule in rules(buckets(dev)[name]).values()
        if "ExpirationInDays" in rule
    }

    assert days == {"warehouse/.staging/": 7, "athena/": 30, "spark-events/": 7, "": 7}


def test_uploads_that_did_not_end_and_markers_without_versions_go(stacks: Stacks) -> None:
    for bucket in buckets(stacks).values():
        tidy = rules(bucket)["tidy"]
        assert tidy["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 3}
        assert tidy["ExpiredObjectDeleteMarker"] is True


def test_data_and_logs_have_keys_of_their_own_that_are_rotated(stacks: Stacks) -> None:
    keys = stacks["storage"].find_resources("AWS::KMS::Key").values()
    aliases = stacks["storage"].find_resources("AWS::KMS::Alias").values()

    assert {each["Properties"]["EnableKeyRotation"] for each in keys} == {True}
    names = {each["Properties"]["AliasName"].rpartition("-")[2] for each in aliases}
    assert len(names) == len(keys)
    assert {"data", "logs"} <= names <= {"data", "logs", "trail"}


def test_queries_cannot_choose_another_place_key_or_limit(stacks: Stacks) -> None:
    [group] = stacks["storage"].find_resources("AWS::Athena::WorkGroup").values()
    settings = group["Properties"]["WorkGroupConfiguration"]

    assert settings["EnforceWorkGroupConfiguration"] is True
    assert settings["BytesScannedCutoffPerQuery"] == 100 * 10**9
    assert "KmsKey" in settings["ResultConfiguration"]["EncryptionConfiguration"]


@pytest.mark.parametrize(("stack", "tiered"), [("prod", True), ("dev", False)])
def test_data_files_find_their_tier_where_the_environment_says_so(
    environments: dict[str, Stacks], stack: str, tiered: bool
) -> None:
    for job in environments[stack]["compute"].find_resources("AWS::Glue::Job").values():
        conf = str(job["Properties"]["DefaultArguments"]["--conf"])
        assert ("s3.write.storage-class=INTELLIGENT_TIERING" in conf) == tiered


def test_without_ages_landings_stay_as_they_are(two: dict[str, Stacks]) -> None:
    [landing] = [
        each["Properties"]
        for each in two["dev"]["storage"].find_resources("AWS::S3::Bucket").values()
        if "landing" in each["Properties"]["BucketName"]
    ]

    assert "age-raw" not in rules(landing)


def copied(account: str) -> Template:
    """Return the storage of an environment whose copies are in an account, with its metrics."""
    environment = Environment.model_validate(
        {
            "environment": "dev", "account": "1" * 12, "region": "eu-west-1",
            "storage": {
                "request_metrics": True,
                "replication": {"landing": "arn:aws:s3:::copy-landing",
                                "lake": "arn:aws:s3:::copy-lake", "key": KEY.format(account)},
            },
        }
    )  # fmt: skip
    place = Place(account=environment.account, region=environment.region)
    app = App(
        analytics_reporting=False, context=json.loads((ROOT / "cdk.json").read_text())["context"]
    )
    stack = StorageStack(app, "storage", environment=environment, env=place)
    return Template.from_stack(stack)


@pytest.fixture(scope="module")
def foreign() -> Template:
    return copied("2" * 12)


def test_landings_and_tables_are_copied_and_no_change_set(foreign: Template) -> None:
    found = buckets({"storage": foreign})
    rules = {
        name: each["ReplicationConfiguration"]["Rules"]
        for name, each in found.items()
        if "ReplicationConfiguration" in each
    }

    assert {name: rule["Filter"] for name, [rule] in rules.items()} == {
        "landing": {"Prefix": ""},
        "lake": {"Prefix": "warehouse/lakekit_dev.db/"},
    }
    for name, [rule] in rules.items():
        assert rule["Destination"] == {
            "Bucket": f"arn:aws:s3:::copy-{name}",
            "Account": "2" * 12,
            "AccessControlTranslation": {"Owner": "Destination"},
            "EncryptionConfiguration": {"ReplicaKmsKeyID": KEY.format("2" * 12)},
            "Metrics": {"Status": "Enabled"},
        }
        assert rule["DeleteMarkerReplication"] == {"Status": "Enabled"}


def test_who_copies_may_write_below_the_copied_prefix_and_use_each_key_through_s3(
    foreign: Template,
) -> None:
    [policy] = foreign.find_resources("AWS::IAM::Policy").values()
    granted = {
        action: (each["Resource"], each.get("Condition"))
        for each in policy["Properties"]["PolicyDocument"]["Statement"]
        for action in as_list(each["Action"])
    }

    assert granted["s3:ReplicateObject"][0] == [
        "arn:aws:s3:::copy-lake/warehouse/lakekit_dev.db/*",
        "arn:aws:s3:::copy-landing/*",
    ]
    assert "s3:ObjectOwnerOverrideToBucketOwner" in granted
    assert "s3:GetObject" not in granted
    via = {"StringEquals": {"kms:ViaService": "s3.eu-west-2.amazonaws.com"}}
    assert granted["kms:Encrypt"] == (KEY.format("2" * 12), via)
    assert list(foreign.find_outputs("CopyRole")) == ["CopyRole"]


def test_copies_of_the_own_account_keep_their_owner() -> None:
    own = buckets({"storage": copied("1" * 12)})["lake"]
    [rule] = own["ReplicationConfiguration"]["Rules"]

    assert rule["Destination"].keys() == {"Bucket", "EncryptionConfiguration", "Metrics"}


def test_requests_are_counted_where_the_environment_says_so(
    foreign: Template, stacks: Stacks
) -> None:
    counted = {n for n, b in buckets({"storage": foreign}).items() if "MetricsConfigurations" in b}

    assert counted == {"landing", "lake"}
    assert not any("MetricsConfigurations" in each for each in buckets(stacks).values())
    assert not any("ReplicationConfiguration" in each for each in buckets(stacks).values())
