"""Buckets, keys and the workgroup: who is kept out, what gets cheaper, what goes when."""

from typing import Any

import pytest

from tests.infra.conftest import Stacks

Json = dict[str, Any]
DATA = ("landing", "lake", "results")
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
